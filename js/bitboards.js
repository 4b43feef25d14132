/**
 * Bitboards: sets of squares in 64 bits, a1 the lowest, h8 the highest, and what a generator of
 * moves makes of them. As in `cpp/chess`, sliding pieces' attacks are fills, without tables.
 *
 * For looking at, one position at a time: BigInt makes them readable and slow.
 * @module
 */
import { COMPASS, JUMPS, piecesOf } from "./moves.js";

const ALL = 2n ** 64n - 1n;
const FILE_A = 0x0101010101010101n;
const NOT = { "-1": ALL ^ (FILE_A << 7n), 0: ALL, 1: ALL ^ FILE_A }; // what a step sideways leaves

/** @typedef {{east: number, north: number, name: string}} Direction */

// prettier-ignore
const NAMES = [
  "north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west",
];

/** @type {readonly Direction[]} */
export const DIRECTIONS = Object.freeze(COMPASS.map((each, i) => ({ ...each, name: NAMES[i] })));
const STRAIGHT = DIRECTIONS.filter(({ east, north }) => !east || !north);
const DIAGONAL = DIRECTIONS.filter(({ east, north }) => east && north);

/** @param {number} square @returns {bigint} */
export const bit = (square) => 1n << BigInt(square);

/** @param {bigint} set @returns {number[]} its squares, ascending */
export function squaresOf(set) {
  return Array.from({ length: 64 }, (_, square) => square).filter((each) => set & bit(each));
}

/** Shifts a set by a vector; squares that leave the board are dropped. */
export function shift(set, { east, north }) {
  for (let i = 0; i < Math.abs(east); ++i)
    set = (east > 0 ? set << 1n : set >> 1n) & NOT[Math.sign(east)];
  return north > 0 ? (set << BigInt(8 * north)) & ALL : set >> BigInt(-8 * north);
}

/**
 * Fills from a set through empty squares (a Kogge-Stone fill), in three steps that reach 1, 3 and 7
 * squares far; then one more step takes what stands behind.
 * @param {bigint} set
 * @param {bigint} empty
 * @param {Direction} direction
 * @returns {bigint[]} five sets: that given, after each step, and the attacked squares
 */
export function fill(set, empty, direction) {
  const stages = [set];
  let open = empty;
  for (const n of [1, 2, 4]) {
    const by = { east: n * direction.east, north: n * direction.north };
    set |= open & shift(set, by);
    open &= shift(open, by);
    stages.push(set);
  }
  return [...stages, shift(set, direction)];
}

/**
 * A position as sets, and what bounds its legal moves.
 * @typedef {object} Sets
 * @property {boolean} white whether White is to move
 * @property {bigint} own
 * @property {bigint} their
 * @property {bigint} empty
 * @property {Map<number, string>} pieces signs of a FEN by square
 * @property {bigint} checkers
 * @property {bigint} checkMask where a piece other than the king may go: everywhere; in check,
 *   where the checker stands and between; in double check nowhere
 * @property {Map<number, bigint>} pins lines, by the squares of the pieces that may not leave them
 * @property {bigint} attacked what the other side attacks, also through the king
 */

/**
 * @param {string} fen
 * @returns {Sets}
 */
export function setsOf(fen) {
  const pieces = piecesOf(fen);
  const white = fen.split(" ")[1] === "w";
  const isOwn = (sign) => (sign === sign.toUpperCase()) === white;
  const among = (wanted) =>
    [...pieces].reduce((set, [square, sign]) => (wanted(sign) ? set | bit(square) : set), 0n);
  const own = among(isOwn);
  const their = among((sign) => !isOwn(sign));
  const sets = {
    white,
    own,
    their,
    empty: ALL ^ own ^ their,
    pieces,
    checkers: 0n,
    checkMask: ALL,
    pins: new Map(),
    attacked: 0n,
  };
  const king = among((sign) => sign === (white ? "K" : "k"));
  for (const [square, sign] of pieces)
    if (!isOwn(sign)) {
      const attacks = attacksOf(square, sets, sets.empty | king);
      sets.attacked |= attacks;
      if (attacks & king) sets.checkers |= bit(square);
    }
  addLines(sets, king);
  return sets;
}

/** Looks from the king in all directions for pieces that check it or pin one of its own. */
function addLines(sets, king) {
  const checkers = squaresOf(sets.checkers);
  if (checkers.length) sets.checkMask = checkers.length > 1 ? 0n : sets.checkers;
  for (const direction of DIRECTIONS) {
    const sliders = STRAIGHT.includes(direction) ? /[rq]/i : /[bq]/i;
    const slides = (set) =>
      squaresOf(set & sets.their).some((at) => sliders.test(sets.pieces.get(at)));
    const [, , , free, reached] = fill(king, sets.empty, direction);
    const first = reached & ~free & ALL;
    if (slides(first)) {
      if (checkers.length === 1) sets.checkMask |= (free ^ king) | first;
    } else if (first & sets.own) {
      const [, , , behind, second] = fill(first, sets.empty, direction);
      const line = (free ^ king) | behind | second;
      if (slides(second & ~behind)) sets.pins.set(squaresOf(first)[0], line);
    }
  }
}

/** Returns what a pawn of a side attacks. */
function pawnAttacks(set, white) {
  const north = white ? 1 : -1;
  return shift(set, { east: 1, north }) | shift(set, { east: -1, north });
}

/**
 * Returns what the piece on a square attacks, whatever stands there.
 * @param {number} square
 * @param {Sets} sets
 * @param {bigint} empty through which sliding pieces pass
 * @returns {bigint}
 */
export function attacksOf(square, sets, empty = sets.empty) {
  const from = bit(square);
  const sign = sets.pieces.get(square) ?? "";
  const together = (each) => each.reduce((set, attacks) => set | attacks, 0n);
  switch (sign.toLowerCase()) {
    case "p":
      return pawnAttacks(from, sign === "P");
    case "n":
      return together(JUMPS.map((each) => shift(from, each)));
    case "k":
      return together(DIRECTIONS.map((each) => shift(from, each)));
    default:
      return together(directionsOf(sign).map((each) => fill(from, empty, each)[4]));
  }
}

/** @param {string} sign @returns {Direction[]} in which a piece slides */
export function directionsOf(sign) {
  const own = { r: STRAIGHT, b: DIAGONAL, q: DIRECTIONS };
  return [...(own[sign.toLowerCase()] ?? [])];
}

/**
 * Returns where a piece of the side to move may go, castling and captures en passant left out: what
 * it attacks, within its pin, and where it meets a check.
 * @param {number} square
 * @param {Sets} sets
 * @returns {bigint}
 */
export function targetsOf(square, sets) {
  const sign = (sets.pieces.get(square) ?? "").toLowerCase();
  const attacks = attacksOf(square, sets) & ~sets.own;
  if (sign === "k") return attacks & ~sets.attacked;
  let targets = attacks;
  if (sign === "p") {
    const by = { east: 0, north: sets.white ? 1 : -1 };
    const once = shift(bit(square), by) & sets.empty;
    const home = square >> 3 === (sets.white ? 1 : 6);
    targets = (attacks & sets.their) | once | (home ? shift(once, by) & sets.empty : 0n);
  }
  return targets & sets.checkMask & (sets.pins.get(square) ?? ALL);
}
