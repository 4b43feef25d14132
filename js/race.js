/**
 * Times steps of chess environments: versions of a step and sizes of a batch, in turns.
 * @module
 */

/**
 * @typedef {object} Version
 * @property {string} name
 * @property {"bool" | "bits" | "list"} mask
 * @property {"board" | "planes"} observation
 */

/** @type {readonly Version[]} */
export const VERSIONS = Object.freeze([
  { name: "list, board", mask: "list", observation: "board" },
  { name: "bits, board", mask: "bits", observation: "board" },
  { name: "bool, board", mask: "bool", observation: "board" },
  { name: "bool, planes", mask: "bool", observation: "planes" },
]);

export const SIZES = Object.freeze([1, 64, 512, 4096]);

const MOST_BYTES = 64e6; // of a batch's outputs, so that a phone's memory will do
const PLIES = 16384; // of a timing: some milliseconds, as a page's clock may tick in tenths of one
const WRITTEN_BYTES = 64e6; // of a timing of the bound: some milliseconds, too
const SECOND = 1000; // of `performance.now`

/**
 * Of one version and size: plies a second in each round, and the bound next to it.
 * @typedef {{version: string, boards: number, bytes: number, rates: number[], bounds: number[]}}
 *   Row
 */

/** Returns the bytes of a board's observation and mask. */
function bytesOf(rungs, { mask, observation }) {
  const envs = rungs.chess({ mask, observation });
  const { observation_bytes, mask_bytes } = envs.outputs;
  envs.close();
  return observation_bytes + mask_bytes;
}

/** Games that are played again and again: the same actions from the same boards. */
class Racer {
  /**
   * @param {import("./rungs.js").Rungs} rungs
   * @param {Version} version
   * @param {number} boards
   * @param {number} bytes of a board's outputs
   */
  constructor(rungs, version, boards, bytes) {
    const { mask, observation } = version;
    this.envs = rungs.chess({ numEnvs: boards, mask, observation });
    this.envs.reset(0);
    /** @type {Row} */
    this.row = { version: version.name, boards, bytes, rates: [], bounds: [] };
    // Into the game first: the start has fewer moves than what follows.
    for (let step = 0; step < 20; ++step) this.envs.step(this.envs.sampleActions());
    this.begin = this.envs.save();
    this.actions = Array.from({ length: PLIES / boards }, () => {
      const chosen = this.envs.sampleActions();
      this.envs.step(chosen);
      return chosen;
    });
    this.written = new Uint8Array(bytes * boards);
  }

  /** Plays the games once, and then writes as many bytes as they put out, and nothing else. */
  run() {
    this.envs.restore(this.begin);
    const begin = performance.now();
    for (const chosen of this.actions) this.envs.step(chosen);
    const played = performance.now();
    this.row.rates.push((PLIES / (played - begin)) * SECOND);
    const times = Math.ceil(WRITTEN_BYTES / this.written.length);
    const from = performance.now();
    for (let i = 0; i < times; ++i) this.written.fill(i);
    const seconds = (performance.now() - from) / SECOND;
    this.row.bounds.push((times * this.row.boards) / seconds);
  }
}

/**
 * Races all versions in some sizes, a round after the other, in each round each of them once.
 * @param {import("./rungs.js").Rungs} rungs
 * @param {number} seconds for how long; there are three rounds at least
 * @param {(rows: Row[], share: number) => void} tell is called after each round, with the share of
 *   the time that is over
 * @param {readonly number[]} boards sizes of a batch
 */
export function race(rungs, seconds, tell, boards = SIZES) {
  const racers = VERSIONS.flatMap((version) => {
    const bytes = bytesOf(rungs, version);
    const sizes = boards.filter((size) => size * bytes <= MOST_BYTES);
    return sizes.map((size) => new Racer(rungs, version, size, bytes));
  });
  const rows = racers.map((racer) => racer.row);
  const begin = performance.now();
  for (let round = 1, share = 0; share < 1; ++round) {
    for (const racer of racers) racer.run();
    share = Math.min(1, (performance.now() - begin) / SECOND / seconds, round / 3);
    tell(rows, share);
  }
  for (const racer of racers) racer.envs.close();
}

/**
 * @param {number[]} values
 * @returns {{low: number, middle: number, high: number}} quartiles
 */
export function quartiles(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share) => {
    const place = share * (sorted.length - 1);
    const below = Math.floor(place);
    const above = sorted[Math.min(below + 1, sorted.length - 1)];
    return sorted[below] + (place - below) * (above - sorted[below]);
  };
  return { low: at(0.25), middle: at(0.5), high: at(0.75) };
}
