import { DIRECTIONS, attacksOf, bit, directionsOf, fill, setsOf, squaresOf } from "../bitboards.js";
import { Board } from "../board.js";
import { file, json } from "../files.js";
import { PLANES, piecesOf, squareName, squareOf, toUci } from "../moves.js";
import { REASONS, load } from "../rungs.js";

const PRESETS = {
  "the start": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
  "a middle game": "r1bq1rk1/pp2bppp/2n1pn2/3p4/2PP4/2N1PN2/PP2BPPP/R1BQ1RK1 w - - 0 9",
  "two pins": "4k3/4r3/8/b7/8/2N1B3/8/4K3 w - - 0 1",
  "a check": "4k3/8/8/7b/1R6/8/8/3K2N1 w - - 0 1",
  "a double check": "4k3/8/5N2/8/8/8/8/4RK2 b - - 0 1",
  "a pawn that promotes": "1n1q3k/2P5/8/8/8/8/8/4K3 w - - 0 1",
  "Black to move": "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3",
  "218 legal moves": "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1",
};
const STAGES = [
  "The piece alone",
  "After one step it has gone 1 square, through empty ones",
  "After two steps, the second of 2 squares: 3 squares",
  "After three, the third of 4 squares: 7 squares, as far as a board is wide",
  "One step more takes what stands behind: all that the piece attacks, its own side's pieces too",
];

const rungs = await load(await file("rungs.wasm"));
const envs = rungs.chess({ mask: "bits", autoreset: "DISABLED" });
envs.reset(0);

const byId = (id) => document.getElementById(id);
const board = new Board(byId("board"), {
  pieces: await json("pieces.json"),
  onMove: play,
  onSquare: look,
});

let fen = envs.fen(0);
let before = []; // positions to take back to
let looked = 1; // the square that is looked at: the knight's on b1
let plane = 0; // the word that is looked at
let view = "fill";
let flipped = false;

/** What squares are xored with in actions and masks, which are seen from the mover's side. */
const turned = () => (fen.split(" ")[1] === "b" ? 56 : 0);
const words = () => Array.from(envs.mask.subarray(0, PLANES.length));
const legal = () =>
  words().flatMap((word, number) => squaresOf(word).map((from) => 64 * number + from));
const asSet = (squares) => squares.reduce((set, square) => set | bit(square), 0n);

/** What each view marks: sets of squares by the names of their marks, and a sentence. */
const VIEWS = {
  fill: {
    title: "attacks",
    show(sets) {
      const sign = sets.pieces.get(looked);
      if (!sign) return [{}, "Click a piece."];
      const directions = directionsOf(sign);
      if (!directions.length)
        return [{ filled: attacksOf(looked, sets) }, "Pieces that don't slide: shifts alone."];
      const stage = Number(byId("stage").value);
      const stages = directions.map((each) => fill(bit(looked), sets.empty, each)[stage]);
      const filled = stages.reduce((set, each) => set | each, 0n);
      return [{ filled }, `${STAGES[stage]}; ${directions.length} directions.`];
    },
  },
  legal: {
    title: "legal",
    show() {
      const own = legal().filter((action) => (action & 63) === (looked ^ turned()));
      const targets = asSet(own.map((action) => squareOf(toUci(action, fen).slice(2, 4))));
      const count = `${own.length} legal action${own.length === 1 ? "" : "s"}`;
      const from = squareName(looked);
      return [{ legal: targets }, `${count} from ${from}, by the environment's mask.`];
    },
  },
  pins: {
    title: "pins",
    show({ pins }) {
      const pinned = asSet([...pins.keys()]);
      const line = [...pins.values()].reduce((set, each) => set | each, 0n);
      const found = [...pins.keys()].map(squareName).join(", ");
      const about = found
        ? `Pinned: ${found}. Such a piece may only go along its line to the king.`
        : "Nothing is pinned.";
      return [{ pinned, line: line & ~pinned }, about];
    },
  },
  check: {
    title: "check mask",
    show({ checkers, checkMask }) {
      const found = squaresOf(checkers).map(squareName).join(" and ");
      const about = !found
        ? "No check: a piece may go to any square, as far as this mask is concerned."
        : checkMask
          ? `Check from ${found}: other pieces than the king may only capture there or go between.`
          : `Double check from ${found}: the mask is empty, only the king may move.`;
      return [{ allowed: checkMask }, about];
    },
  },
  attacked: {
    title: "attacked",
    show({ attacked, white }) {
      const side = white ? "Black" : "White";
      return [{ attacked }, `All that ${side} attacks, also through the king: not for him.`];
    },
  },
  plane: {
    title: "a word",
    show() {
      const from = asSet(squaresOf(words()[plane]).map((square) => square ^ turned()));
      const about = `Word ${plane}: from these squares a move ${described(plane)} is legal.`;
      return [{ plane: from }, about];
    },
  },
};

/** Describes a plane of actions: "2 north-east"; a knight's "2 north, 1 east". */
function described(number) {
  const { east, north, promotion } = PLANES[number];
  const steps = Math.max(Math.abs(east), Math.abs(north));
  const direction = DIRECTIONS.find(
    (each) => each.east * steps === east && each.north * steps === north,
  );
  const up = `${Math.abs(north)} ${north > 0 ? "north" : "south"}`;
  const aside = `${Math.abs(east)} ${east > 0 ? "east" : "west"}`;
  const where = direction ? `${steps} ${direction.name}` : `${up}, ${aside}`;
  const names = { n: "a knight", b: "a bishop", r: "a rook" };
  return promotion ? `${where}, to ${names[promotion]}` : where;
}

function draw() {
  const sets = setsOf(fen);
  const [marked, about] = VIEWS[view].show(sets);
  const marks = { [squareName(looked)]: "looked" };
  for (const [name, set] of Object.entries(marked))
    for (const square of squaresOf(set).map(squareName))
      marks[square] = [marks[square], name].filter(Boolean).join(" ");
  const moves = legal().map((action) => toUci(action, fen));
  const king = [...sets.pieces].find(([, sign]) => sign === (sets.white ? "K" : "k"));
  const check = sets.checkers ? squareName(king[0]) : "";
  board.show({ fen, moves, marks, check, flipped });
  const all = Object.values(marked).reduce((set, each) => set | each, 0n);
  drawBits(all);
  drawMask();
  byId("about").textContent = about;
  byId("fen").value = fen;
  byId("back").disabled = !before.length;
  byId("random").disabled = !moves.length;
  const slides = directionsOf(sets.pieces.get(looked) ?? "").length > 0;
  byId("stages").hidden = view !== "fill" || !slides;
  for (const button of byId("views").children)
    button.setAttribute("aria-pressed", String(button.dataset.view === view));
}

/** Writes a set as eight ranks of bits, rank 8 first, as bytes and as a number. */
function drawBits(set) {
  const pre = byId("bits");
  pre.replaceChildren();
  for (let rank = 7; rank >= 0; --rank) {
    for (let file = 0; file < 8; ++file) {
      const on = set & bit(8 * rank + file);
      const cell = pre.appendChild(document.createElement(on ? "b" : "i"));
      cell.textContent = on ? "1 " : "0 ";
    }
    pre.append(`  ${byteOf(set, rank)}  rank ${rank + 1}\n`);
  }
  const squares = squaresOf(set);
  const names = squares.map(squareName).join(", ");
  pre.setAttribute("aria-label", `Squares in the set: ${names || "none"}`);
  byId("word").textContent = `0x${set.toString(16).padStart(16, "0")}, ${squares.length} bits`;
}

const byteOf = (word, i) => ((word >> BigInt(8 * i)) & 255n).toString(16).padStart(2, "0");
const bytesOf = (word) => Array.from({ length: 8 }, (_, i) => byteOf(word, i)).join(" ");

function drawMask() {
  const mask = words();
  const used = [...mask.keys()].filter((number) => mask[number]);
  byId("mask-about").textContent =
    "Action 64 w + s is bit s of word w: from square s a move of the kind w, seen from the side " +
    `to move${turned() ? ", so that rank 1 is Black's own" : ""}. ${legal().length} actions are ` +
    `legal, in ${used.length} words; bold are those of ${squareName(looked)}.`;
  const focused = document.activeElement?.dataset?.word;
  const body = byId("mask").tBodies[0];
  body.replaceChildren();
  for (const number of used) {
    const row = body.insertRow();
    row.className = mask[number] & bit(looked ^ turned()) ? "own" : "";
    const button = row.insertCell().appendChild(document.createElement("button"));
    button.type = "button";
    button.dataset.word = number;
    button.textContent = number;
    button.addEventListener("click", () => {
      [view, plane] = ["plane", number];
      draw();
    });
    if (focused === String(number)) button.focus();
    row.insertCell().textContent = described(number);
    row.insertCell().textContent = bytesOf(mask[number]);
  }
  byId("bytes").textContent = mask
    .map((word, number) => `${String(number).padStart(2)}  ${bytesOf(word)}`)
    .join("\n");
}

function look(square) {
  if (piecesOf(fen).has(squareOf(square))) looked = squareOf(square);
  draw();
}

function play(move) {
  before.push(fen);
  envs.step([legal().find((action) => toUci(action, fen) === move)]);
  fen = envs.fen(0);
  looked = squareOf(move.slice(2, 4));
  const over = envs.ended[0];
  byId("status").textContent = over ? `The game is over: ${REASONS[envs.reason[0]]}.` : "";
  draw();
}

/** Goes to a position, or shows why it is invalid. */
function setUp(wanted) {
  try {
    if (envs.ended[0]) envs.resetSome(Uint8Array.of(1));
    envs.setFen(0, wanted);
  } catch (error) {
    byId("status").textContent = error.message;
    return false;
  }
  fen = envs.fen(0);
  byId("status").textContent = "";
  const pieces = piecesOf(fen);
  if (!pieces.has(looked)) looked = [...pieces.keys()][0];
  draw();
  return true;
}

for (const [name, { title }] of Object.entries(VIEWS)) {
  const button = byId("views").appendChild(document.createElement("button"));
  button.type = "button";
  button.dataset.view = name;
  button.textContent = title;
  button.addEventListener("click", () => {
    view = name;
    draw();
  });
}
for (const name of Object.keys(PRESETS)) byId("preset").add(new Option(name));
byId("preset").addEventListener("change", (event) => {
  before = [];
  setUp(PRESETS[event.target.value]);
});
byId("set").addEventListener("submit", (event) => {
  event.preventDefault();
  const wanted = byId("fen").value.trim();
  const here = fen;
  if (setUp(wanted)) before.push(here);
});
byId("random").addEventListener("click", () =>
  play(toUci(Number(envs.sampleActions()[0]), fen)),
);
byId("back").addEventListener("click", () => setUp(before.pop()));
byId("flip").addEventListener("click", () => {
  flipped = !flipped;
  draw();
});
byId("stage").addEventListener("input", draw);

byId("preset").value = "a middle game";
looked = squareOf("d1");
byId("page").hidden = false;
setUp(PRESETS["a middle game"]);
