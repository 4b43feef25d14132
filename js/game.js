/**
 * A game of chess between two players: what is legal, what was played, in SAN and PGN, and how it
 * ended. Draws need no claim, as in Rungs' environments, which know the rules.
 * @module
 */
import { COMPASS, JUMPS, isChess960, piecesOf, squareName, squareOf, toUci } from "./moves.js";
import { REASONS } from "./rungs.js";

export const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

const ENDS = {
  stalemate: "stalemate",
  "insufficient material": "neither side can mate",
  "fifty moves": "fifty moves without a capture or a pawn's move",
  "threefold repetition": "the position stood three times",
};

/**
 * What was played, and the position before it.
 * @typedef {{action: number, uci: string, san: string, fen: string}} Ply
 */

/**
 * @param {string} fen
 * @returns {string} the square of the king of the side to move, if it is in check, or ""
 */
export function checked(fen) {
  const pieces = piecesOf(fen);
  const black = fen.split(" ")[1] === "b";
  const king = [...pieces].find(([, sign]) => sign === (black ? "k" : "K"))?.[0] ?? 0;
  const [file, rank] = [king & 7, king >> 3];
  /** Returns an enemy piece as a small letter, "x" for an own one or off the board, "" if empty. */
  const seen = (east, north) => {
    const [x, y] = [file + east, rank + north];
    const sign = Math.min(x, y) < 0 || Math.max(x, y) > 7 ? "x" : (pieces.get(8 * y + x) ?? "");
    return sign && (sign === sign.toLowerCase()) === black ? "x" : sign.toLowerCase();
  };
  const forward = black ? -1 : 1;
  const slides = COMPASS.some(({ east, north }) => {
    let n = 1;
    while (!seen(n * east, n * north)) ++n;
    const found = seen(n * east, n * north);
    const straight = !east || !north;
    const near = n === 1 && (found === "k" || (found === "p" && !straight && north === forward));
    return near || found === "q" || found === (straight ? "r" : "b");
  });
  const jumps = JUMPS.some(({ east, north }) => seen(east, north) === "n");
  return slides || jumps ? squareName(king) : "";
}

/** Writes a legal move as SAN does, but for "+" and "#"; moves are as `toUci` writes them. */
function withoutSuffix(uci, fen, legal) {
  const pieces = piecesOf(fen);
  const [from, to] = [uci.slice(0, 2), uci.slice(2, 4)];
  const sign = pieces.get(squareOf(from)) ?? "";
  const piece = sign.toUpperCase();
  const target = pieces.get(squareOf(to));
  const takes = target || (piece === "P" && from[0] !== to[0]) ? "x" : "";
  if (piece === "P")
    return (takes && `${from[0]}x`) + to + (uci[4] ? `=${uci[4].toUpperCase()}` : "");
  const across = to.charCodeAt(0) - from.charCodeAt(0);
  const ontoRook = target === (sign === "K" ? "R" : "r");
  if (piece === "K" && (Math.abs(across) === 2 || ontoRook)) return across > 0 ? "O-O" : "O-O-O";
  const others = legal
    .filter((other) => other.slice(2, 4) === to && other.slice(0, 2) !== from)
    .map((other) => other.slice(0, 2))
    .filter((other) => (pieces.get(squareOf(other)) ?? "").toUpperCase() === piece);
  const file = others.every((other) => other[0] !== from[0]);
  const rank = others.every((other) => other[1] !== from[1]);
  const which = !others.length ? "" : file ? from[0] : rank ? from[1] : from;
  return piece + which + takes + to;
}

/** A board that moves are played on, of an environment. */
class Table {
  #envs;

  constructor(rungs) {
    this.#envs = rungs.chess({ mask: "list", autoreset: "DISABLED" });
  }

  set(fen) {
    this.#envs.reset(0);
    this.#envs.setFen(0, fen);
  }

  get fen() {
    return this.#envs.fen(0);
  }

  get reason() {
    return REASONS[this.#envs.reason[0]];
  }

  get legal() {
    return [...this.#envs.mask].filter((action) => action >= 0);
  }

  /** Plays a legal action, and returns it in SAN. */
  play(action) {
    const { fen } = this;
    const legal = this.legal.map((other) => toUci(other, fen));
    const san = withoutSuffix(toUci(action, fen), fen, legal);
    this.#envs.step([action]);
    const check = this.reason === "checkmate" ? "#" : checked(this.fen) && "+";
    return san + check;
  }
}

export class Game {
  #table;
  #other;

  /**
   * @param {import("./rungs.js").Rungs} rungs
   * @param {string} fen where it begins
   * @throws {import("./rungs.js").RungsError} FEN
   */
  constructor(rungs, fen = START) {
    this.#table = new Table(rungs);
    this.#other = new Table(rungs); // for lines that are not played
    this.begin(fen);
  }

  /** Begins another game. @param {string} fen @throws FEN: nothing has changed */
  begin(fen) {
    this.#other.set(fen);
    this.#table.set(fen);
    /** Where it began. */
    this.start = this.#table.fen;
    /** Whether it is of Chess960, so that UCI lets a king castle by taking its rook. */
    this.chess960 = isChess960(this.start);
    /** What was played. @type {Ply[]} */
    this.plies = [];
    /** How it ended other than on the board, in words, and PGN's result. */
    this.agreed = { why: "", result: "*" };
  }

  get fen() {
    return this.#table.fen;
  }

  /** @returns {"w" | "b"} the side to move */
  get turn() {
    return this.fen.split(" ")[1] === "b" ? "b" : "w";
  }

  /** @returns {boolean} */
  get over() {
    return this.result !== "*";
  }

  /** @returns {string[]} legal moves as UCI writes them; none where it is over */
  get moves() {
    const { chess960, fen, over } = this;
    return over ? [] : this.#table.legal.map((action) => toUci(action, fen, chess960));
  }

  /** Writes an action of this position as UCI does. @param {number} action @returns {string} */
  uci(action) {
    return toUci(action, this.fen, this.chess960);
  }

  /** @returns {number[]} what was played */
  get actions() {
    return this.plies.map(({ action }) => action);
  }

  /** @returns {string} the square of a king in check, or "" */
  get check() {
    return checked(this.fen);
  }

  /** @returns {string} as in PGN: "1-0", "0-1", "1/2-1/2", or "*" */
  get result() {
    if (this.agreed.why || this.#table.reason === "none") return this.agreed.result;
    if (this.#table.reason !== "checkmate") return "1/2-1/2";
    return this.turn === "w" ? "0-1" : "1-0";
  }

  /** @returns {string} whose turn it is, or how it ended, as a sentence */
  get status() {
    const sides = { w: "White", b: "Black" };
    if (this.agreed.why) return this.agreed.why;
    if (this.result === "*")
      return `${this.check ? "Check! " : ""}${sides[this.turn]} is to move.`;
    if (this.result === "1/2-1/2") return `A draw: ${ENDS[this.#table.reason]}.`;
    return `${sides[this.result === "1-0" ? "w" : "b"]} wins: checkmate.`;
  }

  /**
   * Plays a move for the side to move.
   * @param {string} text as UCI or SAN writes it: "g1f3" or "Nf3"; castling from e1 and e8 may be
   *   written either way, "e1g1" or "e1h1"
   * @throws {RangeError} it is not a legal move here; nothing has changed
   */
  play(text) {
    const plain = (san) =>
      san
        .replace(/[+#!?x=]/g, "")
        .replaceAll("0", "O")
        .replace(/[18][nbrq]$/, (end) => end.toUpperCase());
    const { legal, fen } = this.#table;
    const ucis = legal.map((action) => toUci(action, fen));
    const fits = (action, i) =>
      [ucis[i], toUci(action, fen, true)].includes(text) ||
      plain(withoutSuffix(ucis[i], fen, ucis)) === plain(text);
    const action = this.over || typeof text !== "string" ? undefined : legal.find(fits);
    if (action === undefined) throw new RangeError(`“${text}” is no legal move here`);
    this.plies.push({ action, uci: this.uci(action), san: this.#table.play(action), fen });
  }

  /** Takes back plies. @param {number} count at most as many as there are */
  takeBack(count) {
    const { start, plies } = this;
    this.begin(start);
    this.plies = plies.slice(0, plies.length - count);
    for (const { action } of this.plies) this.#table.play(action);
  }

  /** Ends it. @param {string} why a sentence @param {"1-0" | "0-1" | "1/2-1/2"} result */
  end(why, result) {
    this.agreed = { why, result };
  }

  /**
   * Writes legal actions from here on in SAN.
   * @param {number[]} actions
   * @returns {string[]}
   */
  line(actions) {
    this.#other.set(this.fen);
    return actions.map((action) => this.#other.play(action));
  }

  /** @returns {string[]} what was played, a line for each number: "1. e4 e5" */
  lines() {
    const lines = [];
    for (const { fen, san } of this.plies) {
      const [, side, , , , number] = fen.split(" ");
      if (side === "w") lines.push(`${number}. ${san}`);
      else if (lines.length) lines.push(`${lines.pop()} ${san}`);
      else lines.push(`${number}… ${san}`);
    }
    return lines;
  }

  /**
   * @param {{white: string, black: string, date?: Date}} players by name
   * @returns {string} the game as PGN
   */
  pgn({ white, black, date = new Date() }) {
    const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()];
    const tags = {
      Event: "A game on a page of Rungs",
      Site: "?",
      Date: day.map((number) => String(number).padStart(2, "0")).join("."),
      Round: "-",
      White: white,
      Black: black,
      Result: this.result,
      ...(this.start === START ? {} : { SetUp: "1", FEN: this.start }),
      ...(this.chess960 ? { Variant: "Chess960" } : {}),
    };
    const text = (value) => value.replace(/[\\"]/g, "\\$&").replace(/\s+/g, " ");
    const head = Object.entries(tags).map(([name, value]) => `[${name} "${text(value)}"]`);
    const moves = this.lines().map((line) => line.replace("…", "..."));
    const body = [...moves, this.result].join(" ").match(/\S.{0,78}(?= |$)/g) ?? [];
    return `${[...head, "", ...body].join("\n")}\n`;
  }
}
