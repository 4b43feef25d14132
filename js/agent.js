/**
 * An agent: a network that searches one game. The search can be continued, and its results so far
 * can be read in between.
 *
 *   const agent = new Agent(rungs, await file("agent-1.bin"));
 *   agent.begin(fen, actions);
 *   while (performance.now() < end) agent.think(200);
 *   const { candidates, value, nodes, line } = agent.thoughts();
 * @module
 */
import { MAX_LEGAL, RungsError } from "./rungs.js";

/** A network that scores legal actions and values positions, for `Search.run`. */
export class Network {
  kind = "network";

  /**
   * @param {import("./rungs.js").Rungs} rungs
   * @param {Uint8Array} file an agent's, which `rungs_course.agents.packed` writes: a line of JSON,
   *   then the weights, float16
   * @throws {RungsError} ARGUMENT: it holds something else
   */
  constructor(rungs, file) {
    if (!(file instanceof Uint8Array))
      throw new RungsError("ARGUMENT", "file: an agent's is a Uint8Array");
    const end = file.indexOf(10);
    try {
      /** What the file says about the agent: its name, and more. @type {Record<string, any>} */
      this.about = JSON.parse(new TextDecoder().decode(file.subarray(0, end)));
    } catch {
      throw new RungsError("ARGUMENT", "an agent's file begins with a line of JSON");
    }
    this.rungs = rungs;
    rungs.withMemory((memory) => {
      const config = "rungs_network_config";
      const at = memory.room(rungs.size(config));
      const made = memory.room(4);
      const weights = file.subarray(end + 1);
      rungs.raw(`${config}_init`, at, rungs.size(config));
      rungs.set(config, at, "weights", memory.put(weights));
      rungs.set(config, at, "num_weights", Math.ceil(weights.length / 2));
      rungs.set(config, at, "type", 1);
      rungs.call("rungs_network_create", at, made);
      this.handle = rungs.view(Uint32Array, made, 1)[0];
    });
  }

  /** Frees it; it may not be used any more. */
  close() {
    this.rungs.raw("rungs_network_destroy", this.handle);
    this.handle = 0;
  }
}

/**
 * What an agent thinks of a position.
 * @typedef {object} Thoughts
 * @property {{action: number, visits: number, value: number, prior: number}[]} candidates all legal
 *   actions, those most visited first, then those that the network likes. `value` is the mean of
 *   their visits, -1 to 1 for the side to move, and 0 without any; `prior` is how likely the
 *   network alone plays it.
 * @property {number} chosen the action to play
 * @property {number} value how it expects the game to end, -1 to 1 for the side to move
 * @property {number} simulations of this position, so far
 * @property {number} nodes how many positions its tree holds
 * @property {boolean} full whether the tree has no room for more: further simulations only refine
 *   the values of what it holds
 * @property {number[]} line the actions that it expects both sides to play
 */

export class Agent {
  #network;
  #search;
  #simulations = 0;
  #chosen = -1;

  /**
   * @param {import("./rungs.js").Rungs} rungs
   * @param {Uint8Array} file see `Network`
   * @param {{policy?: "gumbel" | "puct", simulations?: number, nodes?: number}} settings the rule
   *   of its search, without noise; the most simulations of one call of `think`; and how many
   *   positions the tree has room for, some 1 kB each: further simulations only sharpen it
   * @throws {RungsError} as `Network` and `Rungs.search`
   */
  constructor(rungs, file, { policy = "puct", simulations = 512, nodes = 60_000 } = {}) {
    this.#network = new Network(rungs, file);
    const noiseless = { scale: 0, fraction: 0, temperature: 0 };
    this.#search = rungs.search({ policy, simulations, nodes, keep: 0, ...noiseless });
    /** What the file says about it: its name, and more. */
    this.about = this.#network.about;
  }

  /** Frees its memory; it may not be used any more. */
  close() {
    this.#search.close();
    this.#network.close();
  }

  /**
   * Begins to think of a position.
   * @param {string} fen where the game began
   * @param {ArrayLike<number>} actions what was played since, which repetitions depend on
   * @throws {RungsError} FEN, ILLEGAL_ACTION
   */
  begin(fen, actions = []) {
    this.#search.begin(0, fen);
    for (const action of Array.from(actions)) this.#search.advance([action]);
    this.#simulations = 0;
  }

  /**
   * Adds simulations to the tree. With PUCT it is the same whether they come at once or in parts;
   * Gumbel's halving begins again with each call.
   * @param {number} simulations 1 to those of the settings
   */
  think(simulations) {
    this.#search.run(this.#network, simulations);
    this.#simulations += simulations;
    this.#chosen = Number(this.#search.chosen[0]); // before `look` overwrites it
  }

  /**
   * @returns {Thoughts} after `think`, of a game that is not over
   */
  thoughts() {
    const chosen = this.#chosen;
    const line = [chosen];
    this.#search.look(0);
    const value = this.#search.value[0];
    const candidates = this.#candidates();
    const better = (a, b) => b.visits - a.visits || b.prior - a.prior || a.action - b.action;
    candidates.sort((a, b) => (b.action === chosen) - (a.action === chosen) || better(a, b));
    for (let likely = true; likely; ) {
      this.#search.look(0, line);
      const [next] = this.#candidates().sort(better);
      likely = next?.visits > 0;
      if (likely) line.push(next.action);
    }
    const nodes = this.#search.nodes[0];
    const full = nodes === this.#search.config.nodes;
    return { candidates, chosen, value, simulations: this.#simulations, nodes, full, line };
  }

  /**
   * @typedef {{action: number, visits: number, value: number, children: Branch[]}} Branch
   */

  /**
   * Returns the most visited part of the tree.
   * @param {number} depth in plies
   * @param {number} least share of the root's simulations that a branch has
   * @param {number[]} path from the root
   * @returns {Branch[]} in the order of actions, each with what follows; values are to the side
   *   that moves there
   */
  tree(depth, least, path = []) {
    this.#search.look(0, path);
    const few = Math.max(1, least * this.#simulations);
    const found = this.#candidates().filter(({ visits }) => visits >= few);
    return found.map(({ action, visits, value }) => ({
      action,
      visits,
      value,
      children: depth > 1 ? this.tree(depth - 1, least, [...path, action]) : [],
    }));
  }

  #candidates() {
    const { actions, visits, actionValues, priors, counts } = this.#search;
    return Array.from({ length: Math.min(counts[0], MAX_LEGAL) }, (_, k) => ({
      action: actions[k],
      visits: visits[k],
      value: actionValues[k],
      prior: priors[k],
    }));
  }
}
