// A chess board to play on, by mouse, touch or keyboard. Python says what is there and what is
// legal (board.py); a move that was chosen is sent to it as {"move": "e2e4"}.

const NAMES = { p: "pawn", n: "knight", b: "bishop", r: "rook", q: "queen", k: "king" };
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

// The pieces of a FEN by square: {e1: "K", …}.
function placed(fen) {
  const pieces = {};
  fen.split(" ")[0].split("/").forEach((rank, row) => {
    let file = 0;
    for (const sign of rank) {
      if (sign.toLowerCase() in NAMES) pieces["abcdefgh"[file++] + (8 - row)] = sign;
      else file += Number(sign);
    }
  });
  return pieces;
}

function named(sign) {
  return `${sign === sign.toLowerCase() ? "black" : "white"} ${NAMES[sign.toLowerCase()]}`;
}

function made(tag, parent, attributes) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return parent.appendChild(element);
}

function render({ model, el }) {
  let selected = null; // a square
  const at = [7, 4]; // row and column that Tab leads to
  const grid = made("div", el, { class: "rungs-board", role: "grid", "aria-label": "Chess board" });
  const cells = Array.from({ length: 8 }, () => {
    const row = made("div", grid, { role: "row" });
    return Array.from({ length: 8 }, () => made("button", row, { role: "gridcell", type: "button" }));
  });

  const squareAt = (row, column) =>
    model.get("flipped") ? "hgfedcba"[column] + (row + 1) : "abcdefgh"[column] + (8 - row);
  const movesFrom = (square) => model.get("moves").filter((move) => move.startsWith(square));
  const movesTo = (square) =>
    selected ? movesFrom(selected).filter((move) => move.slice(2, 4) === square) : [];

  function draw() {
    const pieces = placed(model.get("fen"));
    const art = model.get("pieces");
    const last = model.get("last");
    cells.forEach((row, r) =>
      row.forEach((cell, c) => {
        const square = squareAt(r, c);
        const piece = pieces[square];
        const target = movesTo(square).length > 0;
        const movable = movesFrom(square).length > 0;
        cell.dataset.square = square;
        cell.dataset.file = r === 7 ? square[0] : "";
        cell.dataset.rank = c === 0 ? square[1] : "";
        cell.className = [
          (r + c) % 2 ? "dark" : "light",
          target && (piece ? "capture" : "target"),
          movable && "movable",
          square === selected && "selected",
          last && (last.startsWith(square) || last.slice(2, 4) === square) && "last",
          square === model.get("check") && "check",
        ].filter(Boolean).join(" ");
        cell.tabIndex = r === at[0] && c === at[1] ? 0 : -1;
        cell.innerHTML = piece ? art[piece] : "";
        cell.setAttribute("aria-selected", String(square === selected));
        cell.setAttribute(
          "aria-label",
          [
            square,
            piece ? named(piece) : "empty",
            square === selected && "selected",
            target && "move here",
            !selected && movable && "can move",
          ].filter(Boolean).join(", "),
        );
      }),
    );
  }

  function send(move) {
    selected = null;
    draw();
    model.send({ move });
  }

  // Asks which piece a pawn becomes.
  function promote(moves) {
    const white = moves[0][3] === "8";
    const dialog = made("div", grid, { class: "promotion", role: "dialog", "aria-label": "Promote to" });
    const close = () => {
      dialog.remove();
      cells[at[0]][at[1]].focus();
    };
    const choices = moves.map((move) => {
      const sign = white ? move[4].toUpperCase() : move[4];
      const choice = made("button", dialog, { type: "button", "aria-label": named(sign) });
      choice.innerHTML = model.get("pieces")[sign];
      choice.addEventListener("click", () => {
        close();
        send(move);
      });
      return choice;
    });
    dialog.addEventListener("keydown", (event) => {
      const step = STEPS[event.key];
      if (step) {
        const next = choices.indexOf(document.activeElement) + step[0] + step[1];
        choices[(next + choices.length) % choices.length].focus();
      } else if (event.key === "Escape") close();
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    dialog.addEventListener("focusout", (event) => {
      if (!dialog.contains(event.relatedTarget)) dialog.remove();
    });
    choices[0].focus();
  }

  function choose(square) {
    const moves = movesTo(square);
    if (moves.length > 1) return promote(moves);
    if (moves.length) return send(moves[0]);
    selected = square !== selected && movesFrom(square).length ? square : null;
    draw();
  }

  grid.addEventListener("click", (event) => {
    const cell = event.target.closest("[role=gridcell]");
    if (!cell) return;
    const row = cells.findIndex((each) => each.includes(cell));
    [at[0], at[1]] = [row, cells[row].indexOf(cell)];
    choose(cell.dataset.square);
  });
  grid.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (step) {
      at[0] = Math.min(7, Math.max(0, at[0] + step[0]));
      at[1] = Math.min(7, Math.max(0, at[1] + step[1]));
    } else if (event.key === "Escape") selected = null;
    else return;
    draw();
    cells[at[0]][at[1]].focus();
    event.preventDefault();
    event.stopPropagation(); // arrows are a notebook's own, too
  });

  const changed = () => {
    if (selected && !movesFrom(selected).length) selected = null;
    draw();
  };
  const told = ["fen", "moves", "last", "check", "flipped"].map((name) => `change:${name}`).join(" ");
  model.on(told, changed);
  draw();
  return () => model.off(told, changed);
}

export default { render };
