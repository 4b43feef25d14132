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

let latest = { fen: "", pieces: new Map() }; // a position's moves are written one after another

/**
 * Returns the pieces of a position by the numbers of their squares.
 * @param {string} fen
 * @returns {ReadonlyMap<number, string>} signs as in the FEN: "K" is White's king
 */
export function piecesOf(fen) {
  if (fen === latest.fen) return latest.pieces;
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
  latest = { fen, pieces };
  return pieces;
}

/**
 * Says whether a position has a right to castle that classical chess does not have.
 * @param {string} fen as the library writes it, an X-FEN
 * @returns {boolean}
 */
export function isChess960(fen) {
  const pieces = piecesOf(fen);
  const classical = { K: "e1h1", Q: "e1a1", k: "e8h8", q: "e8a8" };
  return [...fen.split(" ")[2].replace("-", "")].some((right) => {
    const [king, rook] = /[KQ]/.test(right) ? "KR" : "kr";
    const squares = classical[right] ?? "";
    const at = (name) => pieces.get(squareOf(name));
    return !squares || at(squares.slice(0, 2)) !== king || at(squares.slice(2)) !== rook;
  });
}

/**
 * Writes an action as UCI does: action 524 of the starting position is "e2e4".
 * @param {number} action one that stays on the board
 * @param {string} fen the position
 * @param {boolean} chess960 whether a king always castles by taking its rook; if not, only where
 *   classical chess has no such castling, and else by two squares
 * @returns {string}
 */
export function toUci(action, fen, chess960 = false) {
  const view = fen.split(" ")[1] === "b" ? 56 : 0;
  const pieces = piecesOf(fen);
  const { east, north, promotion } = PLANES[action >> 6];
  const from = action & 63;
  const sign = pieces.get(from ^ view) ?? "";
  let to = from + east + 8 * north;
  if (chess960 && /k/i.test(sign) && Math.abs(east) === 2 && !pieces.has(to ^ view))
    to = east > 0 ? 7 : 0;
  const queen = to >= 56 && /p/i.test(sign) ? "q" : "";
  return squareName(from ^ view) + squareName(to ^ view) + (promotion || queen);
}
