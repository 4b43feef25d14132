/**
 * A chess board on a page, to look at and to choose moves and squares on, by mouse, touch or
 * keyboard. Tab leads to it, arrows from square to square; Enter or Space chooses a piece and then
 * where it goes; Escape chooses nothing. `pages/board.css` is its style.
 *
 *   const board = new Board(element, { pieces: await json("pieces.json"), onMove: play });
 *   board.show({ fen, moves: ["e2e4", "g1f3"], last: "e7e5" });
 * @module
 */
import { piecesOf, squareName, squareOf } from "./moves.js";

const NAMES = { p: "pawn", n: "knight", b: "bishop", r: "rook", q: "queen", k: "king" };
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
const DRAG = 6; // pixels that a mouse moves before a click is a drag

/**
 * @typedef {object} Shown
 * @property {string} [fen] the position
 * @property {string[]} [moves] what may be chosen, as UCI writes it; at first nothing
 * @property {string} [last] the move that led there, or ""
 * @property {string} [check] the square of a king in check, or ""
 * @property {boolean} [flipped] whether Black is below
 * @property {Record<string, string>} [marks] words by squares, {e4: "pinned attacked"}: each square
 *   has them as `data-marks`, for styles, and in its label
 */

/** @param {string} sign of a FEN @returns {string} "white pawn" */
function named(sign) {
  return `${sign === sign.toLowerCase() ? "black" : "white"} ${NAMES[sign.toLowerCase()]}`;
}

function made(tag, parent, attributes) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return parent.appendChild(element);
}

export class Board {
  #pieces;
  #onMove;
  #onSquare;
  /** @type {Required<Shown>} */
  #shown = {
    fen: "8/8/8/8/8/8/8/8 w - - 0 1",
    moves: [],
    last: "",
    check: "",
    flipped: false,
    marks: {},
  };
  #selected = ""; // a square
  #at = [7, 4]; // row and column that Tab leads to
  #grid;
  /** @type {HTMLElement[][]} */
  #cells;

  /**
   * @param {HTMLElement} element what the board is put into
   * @param {{pieces: Record<string, string>, label?: string, onMove?: (move: string) => void,
   *   onSquare?: (square: string) => void}} options `pieces`: SVG by sign of a FEN; `label`: the
   *   board's name; `onMove` is called with each of `moves` that is chosen, as UCI writes it,
   *   `onSquare` with each square that is chosen otherwise: "e4"
   */
  constructor(element, { pieces, label = "Chess board", onMove = () => {}, onSquare = () => {} }) {
    this.#pieces = pieces;
    this.#onMove = onMove;
    this.#onSquare = onSquare;
    this.#grid = made("div", element, { class: "board", role: "grid", "aria-label": label });
    this.#cells = Array.from({ length: 8 }, () => {
      const row = made("div", this.#grid, { role: "row" });
      const cell = { role: "gridcell", type: "button" };
      return Array.from({ length: 8 }, () => made("button", row, cell));
    });
    this.#grid.addEventListener("click", (event) => this.#clicked(event));
    this.#grid.addEventListener("keydown", (event) => this.#pressed(event));
    this.#grid.addEventListener("pointerdown", (event) => this.#dragged(event));
    this.#draw();
  }

  /**
   * Shows a position, all at once. What is not given stays as it is.
   * @param {Shown} shown
   */
  show(shown) {
    this.#shown = { ...this.#shown, ...shown };
    if (!this.#movesFrom(this.#selected).length) this.#selected = "";
    this.#draw();
  }

  #squareAt(row, column) {
    return squareName(this.#shown.flipped ? 8 * row + 7 - column : 8 * (7 - row) + column);
  }

  #movesFrom(square) {
    return this.#shown.moves.filter((move) => square && move.startsWith(square));
  }

  #movesTo(square) {
    return this.#movesFrom(this.#selected).filter((move) => move.slice(2, 4) === square);
  }

  #draw() {
    const { fen, last, check, marks } = this.#shown;
    const pieces = piecesOf(fen);
    this.#cells.forEach((row, r) =>
      row.forEach((cell, c) => {
        const square = this.#squareAt(r, c);
        const sign = pieces.get(squareOf(square)) ?? "";
        const target = this.#movesTo(square).length > 0;
        const movable = this.#movesFrom(square).length > 0;
        const selected = square === this.#selected;
        cell.className = [
          (r + c) % 2 ? "dark" : "light",
          target && (sign ? "capture" : "target"),
          movable && "movable",
          selected && "selected",
          last && [last.slice(0, 2), last.slice(2, 4)].includes(square) && "last",
          square === check && "check",
        ]
          .filter(Boolean)
          .join(" ");
        cell.tabIndex = r === this.#at[0] && c === this.#at[1] ? 0 : -1;
        if (cell.dataset.piece !== sign) cell.innerHTML = sign && this.#pieces[sign];
        Object.assign(cell.dataset, {
          square,
          piece: sign,
          marks: marks[square] ?? "",
          file: r === 7 ? square[0] : "",
          rank: c === 0 ? square[1] : "",
        });
        cell.setAttribute("aria-selected", String(selected));
        const label = [
          square,
          sign ? named(sign) : "empty",
          marks[square],
          square === check && "in check",
          selected && "selected",
          target && "move here",
          !this.#selected && movable && "can move",
        ];
        cell.setAttribute("aria-label", label.filter(Boolean).join(", "));
      }),
    );
  }

  #chosen(move) {
    this.#selected = "";
    this.#draw();
    this.#onMove(move);
  }

  #choose(square) {
    const moves = this.#movesTo(square);
    if (moves.length > 1) return this.#promote(moves);
    if (moves.length) return this.#chosen(moves[0]);
    const selects = square !== this.#selected && this.#movesFrom(square).length > 0;
    this.#selected = selects ? square : "";
    this.#draw();
    this.#onSquare(square);
  }

  /** Asks which piece a pawn becomes. */
  #promote(moves) {
    const white = moves[0][3] === "8";
    const cell = this.#cells[this.#at[0]][this.#at[1]];
    const dialog = made("div", this.#grid, {
      class: "promotion",
      role: "dialog",
      "aria-label": "Promote to",
    });
    const choices = moves.map((move) => {
      const sign = white ? move[4].toUpperCase() : move[4];
      const choice = made("button", dialog, { type: "button", "aria-label": named(sign) });
      choice.innerHTML = this.#pieces[sign];
      choice.addEventListener("click", () => {
        cell.focus(); // which closes it
        this.#chosen(move);
      });
      return choice;
    });
    dialog.addEventListener("keydown", (event) => {
      const step = STEPS[event.key];
      if (step) {
        const next = choices.indexOf(document.activeElement) + step[0] + step[1];
        choices[(next + choices.length) % choices.length].focus();
      } else if (event.key === "Escape") cell.focus();
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    dialog.addEventListener("focusout", (event) => {
      if (!dialog.contains(event.relatedTarget)) dialog.remove();
    });
    choices[0].focus();
  }

  #cellOf(element) {
    return element?.closest?.("[role=gridcell]");
  }

  #clicked(event) {
    const cell = this.#cellOf(event.target);
    if (!cell) return;
    const row = this.#cells.findIndex((each) => each.includes(cell));
    this.#at = [row, this.#cells[row].indexOf(cell)];
    this.#choose(cell.dataset.square);
  }

  #pressed(event) {
    const step = STEPS[event.key];
    if (step) {
      this.#at = this.#at.map((at, i) => Math.min(7, Math.max(0, at + step[i])));
    } else if (event.key === "Escape") this.#selected = "";
    else return;
    this.#draw();
    this.#cells[this.#at[0]][this.#at[1]].focus();
    event.preventDefault();
    event.stopPropagation(); // arrows may be the page's own, too
  }

  /** Lets a mouse drag a piece to where it goes; fingers scroll the page instead. */
  #dragged(down) {
    const cell = this.#cellOf(down.target);
    if (down.pointerType !== "mouse" || down.button || !cell?.classList.contains("movable")) return;
    const piece = cell.firstElementChild;
    const drags = (event) => {
      const by = [event.clientX - down.clientX, event.clientY - down.clientY];
      if (!this.#grid.classList.contains("dragging")) {
        if (Math.hypot(...by) < DRAG) return;
        this.#grid.classList.add("dragging");
        this.#selected = cell.dataset.square;
        this.#draw();
      }
      piece.style.transform = `translate(${by[0]}px, ${by[1]}px)`;
    };
    const ends = (event) => {
      removeEventListener("pointermove", drags);
      removeEventListener("pointerup", ends);
      removeEventListener("pointercancel", ends);
      piece.style.transform = "";
      if (!this.#grid.classList.contains("dragging")) return; // the click that comes chooses
      this.#grid.classList.remove("dragging");
      const over = this.#cellOf(document.elementFromPoint(event.clientX, event.clientY));
      // A drop on the piece's own square is also a click, which would drop the choice.
      if (over === cell) this.#selected = "";
      else if (over && this.#grid.contains(over) && this.#movesTo(over.dataset.square).length)
        this.#choose(over.dataset.square);
    };
    addEventListener("pointermove", drags);
    addEventListener("pointerup", ends);
    addEventListener("pointercancel", ends);
  }
}
