/**
 * Squares, moves and actions: what an action of Rungs is on a board, as UCI writes it.
 * @module
 */

/** @typedef {{east: number, north: number}} Offset */

const offset = ([east, north]) => Object.freeze({ east, north });

/** The eight directions, clockwise from north. @type {readonly Offset[]} */
// prettier-ignore
export const COMPASS = Object.freeze(
  [[0, 1], [1, 1], [1, 0], [1, -1], [0, -1], [-1, -1], [-1, 0], [-1, 1]].map(offset),
);

/** A knight's jumps. @type {readonly Offset[]} */
// prettier-ignore
export const JUMPS = Object.freeze(
  [[1, 2], [2, 1], [2, -1], [1, -2], [-1, -2], [-2, -1], [-2, 1], [-1, 2]].map(offset),
);

/** @typedef {{east: number, north: number, promotion: string}} Plane */

/**
 * Where each of the 73 planes of actions leads, from the mover's point of view, and the piece that
 * an underpromotion makes, or "".
 * @type {readonly Plane[]}
 */
export const PLANES = Object.freeze([
  ...[1, 2, 3, 4, 5, 6, 7].flatMap((n) =>
    COMPASS.map(({ east, north }) => ({ east: n * east, north: n * north, promotion: "" })),
  ),
  ...JUMPS.map((jump) => ({ ...jump, promotion: "" })),
  ..."nbr".split("").flatMap((promotion) =>
    [-1, 0, 1].map((x) => ({ east: x, north: 1, promotion })),
  ),
]);

/**
 * @param {number} square 0 to 63, a1 is 0, h1 is 7
 * @returns {string} "e4"
 */
export function squareName(square) {
  return "abcdefgh"[square & 7] + ((square >> 3) + 1);
}

/**
 * @param {string} name "e4"
 * @returns {number} 0 to 63
 */
export function squareOf(name) {
  return "abcdefgh".indexOf(name[0]) + 8 * (Number(name[1]) - 1);
}

/**
 * Returns the pieces of a position by the numbers of their squares.
 * @param {string} fen
 * @returns {Map<number, string>} signs as in the FEN: "K" is White's king
 */
export function piecesOf(fen) {
  const pieces = new Map();
  fen
    .split(" ")[0]
    .split("/")
    .forEach((rank, row) => {
      let file = 0;
      for (const sign of rank) {
        if (/\d/.test(sign)) file += Number(sign);
        else pieces.set(8 * (7 - row) + file++, sign);
      }
    });
  return pieces;
}

/**
 * Writes an action as UCI does: action 524 of the starting position is "e2e4".
 * @param {number} action one that stays on the board
 * @param {string} fen the position; castling is the king's two squares
 * @returns {string}
 */
export function toUci(action, fen) {
  const view = fen.split(" ")[1] === "b" ? 56 : 0;
  const { east, north, promotion } = PLANES[action >> 6];
  const from = action & 63;
  const to = from + east + 8 * north;
  const pawn = to >= 56 && /p/i.test(piecesOf(fen).get(from ^ view) ?? "");
  return squareName(from ^ view) + squareName(to ^ view) + (promotion || (pawn ? "q" : ""));
}
