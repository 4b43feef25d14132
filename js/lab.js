/**
 * Two tasks to solve in JavaScript, judged by the environment.
 * @module
 */
import { bit, squaresOf } from "./bitboards.js";
import { PLANES, squareName, toUci } from "./moves.js";
import { randoms } from "./randoms.js";
import { NUM_ACTIONS } from "./rungs.js";

const DRAWS = 2000; // of one position, for whether all actions are equally likely

/**
 * The first fault, as a position with marks for the board.
 * @typedef {{words: string, fen: string, marks: Record<string, string>}} Fault
 */

/**
 * What the function is given, and how often it is called with random numbers; without `draws` it is
 * called once, without them. The rest is for the judge.
 * @typedef {{given: any, draws?: number, fen?: string, expected?: bigint}} Case
 */

/**
 * @typedef {object} Task
 * @property {string} name of the function to write
 * @property {string} stub a wrong version to begin with
 * @property {(rungs: import("./rungs.js").Rungs) => Case[]} cases
 * @property {(cases: Case[], results: any[]) => Fault | null} judge
 */

/** @type {Task} */
const randomAction = {
  name: "randomAction",
  stub: `// words: 73 BigInts. Where bit s of words[w] is set, action 64 * w + s is legal.
// random(): a number from 0 to less than 1.
// Returns a legal action, all equally likely.
function randomAction(words, random) {
  return Math.floor(random() * 4672); // one of all actions: hardly ever a legal one
}
`,
  cases(rungs) {
    const envs = rungs.chess({ mask: "bits" });
    envs.reset(0);
    const random = randoms();
    const cases = [];
    const add = (draws) =>
      cases.push({
        given: Array.from(envs.mask.subarray(0, PLANES.length)),
        draws,
        fen: envs.fen(0),
      });
    for (let position = 0; position < 100; ++position) {
      add(position === 0 ? DRAWS : 5);
      envs.step(envs.sampleActions(random));
    }
    envs.close();
    return cases;
  },
  judge(cases, results) {
    for (const [i, { given: words, fen, draws }] of cases.entries()) {
      const isLegal = (action) =>
        Number.isInteger(action) &&
        action >= 0 &&
        action < NUM_ACTIONS &&
        Boolean(words[action >> 6] & bit(action & 63));
      const wrong = results[i].find((action) => !isLegal(action));
      if (typeof wrong === "bigint")
        return { words: `${wrong}n is a BigInt; an action is a number.`, fen, marks: {} };
      if (wrong !== undefined) {
        const marks = marksOf(wrong, fen);
        const move = Object.keys(marks).length ? `, ${Object.keys(marks).join(" to ")},` : "";
        return { words: `${wrong}${move} is no legal action here.`, fen, marks };
      }
      if (draws < DRAWS) continue;
      const legal = words.flatMap((word, w) => squaresOf(word).map((s) => 64 * w + s));
      const expected = draws / legal.length;
      for (const action of legal) {
        const count = results[i].filter((each) => each === action).length;
        if (Math.abs(count - expected) < expected / 2) continue;
        const told = `${toUci(action, fen)} came ${count} times of ${draws}`;
        const marks = marksOf(action, fen);
        return { words: `${told}, and should about ${expected} times.`, fen, marks };
      }
    }
    return null;
  },
};

/** Returns marks of where an action goes from and to; none where that is no action on the board. */
function marksOf(action, fen) {
  if (!Number.isInteger(action) || action < 0 || action >= NUM_ACTIONS) return {};
  const { east, north } = PLANES[action >> 6];
  const [file, rank] = [(action & 7) + east, ((action & 63) >> 3) + north];
  if (file < 0 || file > 7 || rank < 0 || rank > 7) return {};
  const uci = toUci(action, fen);
  return { [uci.slice(0, 2)]: "from", [uci.slice(2, 4)]: "to" };
}

/** Writes pieces by their squares as a FEN, White to move. */
function fenOf(pieces) {
  const rank = (r) => Array.from({ length: 8 }, (_, f) => pieces.get(8 * r + f) ?? "1").join("");
  const ranks = [7, 6, 5, 4, 3, 2, 1, 0].map(rank).join("/");
  return `${ranks.replace(/1+/g, (ones) => String(ones.length))} w - - 0 1`;
}

/** Returns a position of a knight; out of its way are two kings and a pawn, so the game goes on. */
function loneKnight(square) {
  const near = (a, b) => Math.max(Math.abs((a & 7) - (b & 7)), Math.abs((a >> 3) - (b >> 3)));
  const free = [...Array(64).keys()].filter((at) => near(at, square) > 2);
  const white = free[0];
  const black = free.findLast((at) => near(at, white) > 1);
  const inner = free.filter((at) => at >= 8 && at < 56 && at !== white);
  const pawn = inner.find((at) => near(at, black) > 1);
  // prettier-ignore
  return fenOf(new Map([[square, "N"], [white, "K"], [black, "k"], [pawn, "P"]]));
}

/** @type {Task} */
const knightAttacks = {
  name: "knightAttacks",
  stub: `// knights: a BigInt, the squares of any number of knights. Bit 0 is a1, bit 1 is b1.
// Returns all squares that they attack, likewise.
function knightAttacks(knights) {
  return knights << 17n; // 2 north, 1 east. Seven jumps are missing, and one comes back.
}
`,
  cases(rungs) {
    const envs = rungs.chess({ mask: "bits" });
    envs.reset(0);
    const attacks = Array.from({ length: 64 }, (_, square) => {
      envs.setFen(0, loneKnight(square));
      return PLANES.reduce((set, { east, north }, plane) => {
        const isLegal = envs.mask[plane] & bit(square); // the king moves from elsewhere
        return isLegal ? set | bit(square + east + 8 * north) : set;
      }, 0n);
    });
    envs.close();
    const random = randoms(7);
    const few = () => [0, 1, 2, 3].reduce((set) => set | bit(Math.floor(64 * random())), 0n);
    const alone = attacks.map((_, square) => bit(square));
    const sets = [0n, ...alone, ...Array.from({ length: 500 }, few)];
    return sets.map((given) => ({
      given,
      expected: squaresOf(given).reduce((set, square) => set | attacks[square], 0n),
    }));
  },
  judge(cases, results) {
    const wrong = cases.findIndex(({ expected }, i) => results[i] !== expected);
    if (wrong < 0) return null;
    const [{ given: knights, expected }, found] = [cases[wrong], results[wrong]];
    const fen = fenOf(new Map(squaresOf(knights).map((square) => [square, "N"])));
    if (typeof found !== "bigint")
      return { words: `${found} is not a BigInt.`, fen, marks: {} };
    if (found < 0n || found >> 64n)
      return { words: `${found} is no set of 64 bits: BigInt.asUintN(64, n) is.`, fen, marks: {} };
    const [missing, tooMany] = [expected & ~found, found & ~expected];
    const named = (set) => squaresOf(set).map(squareName).join(", ");
    const words = [
      `Knights on ${named(knights) || "no square"}:`,
      missing && `missing ${named(missing)}`,
      missing && tooMany && "and",
      tooMany && `too many ${named(tooMany)}`,
    ];
    const marks = {};
    for (const [name, set] of Object.entries({ missing, wrong: tooMany, right: expected & found }))
      for (const square of squaresOf(set)) marks[squareName(square)] = name;
    return { words: `${words.filter(Boolean).join(" ")}.`, fen, marks };
  },
};

/** @type {Readonly<Record<string, Task>>} */
export const TASKS = Object.freeze({ randomAction, knightAttacks });
