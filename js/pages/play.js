/**
 * The page to play on: two players, of whom each is a person or a recorded agent, and what agents
 * think.
 */
import { Board } from "../board.js";
import { file, json } from "../files.js";
import { Game, START } from "../game.js";
import { RungsError, load } from "../rungs.js";
import { svgElement } from "../svg.js";
import { Player } from "../thinking.js";

const AGENTS = ["agent-1.bin", "agent-0.bin"]; // the better one first
const YOU = "you";
const NODES = 80_000; // positions of a tree: some 80 MB
const ROWS = 6; // candidates that are shown
const WATCHING = 600; // milliseconds that a move of two agents is seen at least
const DRAWN = 0.05; // an agent that expects no more takes a draw
const SIDES = { w: "White", b: "Black" };

const $ = (id) => document.getElementById(id);

class Page {
  #rungs;
  #agents;
  #board;
  #game;
  #players = { w: YOU, b: "0" }; // of this game: YOU, or an agent's number
  #wanted = new AbortController(); // of the current search: older ones are aborted
  #flipped = false;

  constructor(rungs, agents, pieces) {
    this.#rungs = rungs;
    this.#agents = agents;
    this.#game = new Game(rungs);
    this.#board = new Board($("board"), { pieces, onMove: (move) => this.#move(move) });
    for (const id of ["white", "black"]) {
      const named = agents.map(({ about }, i) => new Option(about.name, String(i)));
      $(id).append(new Option("you", YOU), ...named);
      $(id).addEventListener("change", () => this.#chosen());
    }
    $("black").value = "0";
    const ratings = agents.map(({ about }) => rated(about)).filter(Boolean);
    $("ratings").textContent =
      `Elo above random play, with 95 % intervals: ${ratings.join(" ") || "none is rated."} Here ` +
      `they play by PUCT, in WebAssembly, with as many simulations as their time allows.`;
    const on = (id, event, does) =>
      $(id).addEventListener(event, (happened) => {
        happened.preventDefault();
        does();
      });
    on("new", "click", () => this.#begin(START));
    on("back", "click", () => this.#takeBack());
    on("hint", "click", () => this.#hint());
    on("flip", "click", () => this.#flip());
    on("draw", "click", () => this.#offerDraw());
    on("resign", "click", () => this.#resign());
    on("typed", "submit", () => this.#type());
    on("setup", "submit", () => this.#begin($("fen").value.trim()));
    on("copy", "click", () => this.#copy());
    this.#begin(START);
  }

  get #isYours() {
    return !this.#game.over && this.#players[this.#game.turn] === YOU;
  }

  /** The agent that gives hints and answers offers: one that plays, or else the first. */
  get #adviser() {
    const playing = [this.#players.b, this.#players.w].find((each) => each !== YOU);
    return this.#agents[Number(playing ?? 0)];
  }

  #name(side) {
    const player = this.#players[side];
    return player === YOU ? YOU : this.#agents[Number(player)].about.name;
  }

  #begin(fen) {
    try {
      this.#game.begin(fen);
    } catch (error) {
      if (!(error instanceof RungsError)) throw error;
      return this.#show(error.message);
    }
    this.#players = { w: $("white").value, b: $("black").value };
    this.#flipped = this.#players.b === YOU && this.#players.w !== YOU;
    this.#forget();
    this.#goOn();
  }

  /** The number of your last ply; -1 without one. */
  get #yourLast() {
    const sides = this.#game.plies.map(({ fen }) => fen.split(" ")[1]);
    return sides.findLastIndex((side) => this.#players[side] === YOU);
  }

  /** A player was chosen: begins this game again if you haven't moved; else it is for the next. */
  #chosen() {
    if (this.#yourLast < 0) return this.#begin(this.#game.start);
    this.#show("That begins with a new game.");
  }

  #move(text) {
    if (!this.#isYours) return this.#show();
    try {
      this.#game.play(text);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return this.#show(error.message);
    }
    this.#goOn();
  }

  #type() {
    const text = $("move").value.trim();
    $("move").value = "";
    if (text) this.#move(text);
  }

  /** Aborts the current search; returns the signal of a new one. */
  #want() {
    this.#wanted.abort();
    this.#wanted = new AbortController();
    return this.#wanted.signal;
  }

  /** Shows the game, and lets agents move until it is a person's turn. */
  async #goOn() {
    const signal = this.#want();
    this.#show();
    while (!this.#game.over && !this.#isYours) {
      const side = this.#game.turn;
      const agent = this.#agents[Number(this.#players[side])];
      const watched = Object.values(this.#players).every((each) => each !== YOU);
      const least = watched ? WATCHING : 0;
      this.#show(`${SIDES[side]}, ${agent.about.name}, thinks …`);
      const thoughts = await this.#think(agent, signal, "expects", least);
      if (!thoughts) return;
      this.#game.play(this.#game.uci(thoughts.chosen));
      this.#show();
    }
  }

  /**
   * Lets an agent think about the position for the chosen time, and shows what it thinks.
   * @returns its thoughts; null if the search was aborted or has failed
   */
  async #think(agent, signal, verb, least = 0) {
    const milliseconds = 1000 * Number($("seconds").value);
    const began = performance.now();
    let thoughts = null;
    try {
      const { start, actions } = this.#game;
      for await (thoughts of agent.think(start, actions, milliseconds, signal))
        if (!signal.aborted) this.#showThoughts(agent, verb, thoughts);
    } catch (error) {
      if (!(error instanceof RungsError)) throw error;
      this.#show(error.message);
      return null;
    }
    const left = least - (performance.now() - began);
    if (left > 0) await new Promise((resolve) => setTimeout(resolve, left));
    return signal.aborted ? null : thoughts;
  }

  #takeBack() {
    const { agreed, plies } = this.#game;
    if (!agreed.why && this.#yourLast < 0) return this.#show("There is no move of yours.");
    this.#game.takeBack(agreed.why ? 0 : plies.length - this.#yourLast);
    this.#forget();
    this.#goOn();
  }

  async #hint() {
    if (!this.#isYours) return;
    const signal = this.#want();
    this.#show("It looks at your position …");
    const thoughts = await this.#think(this.#adviser, signal, "would expect, in your place,");
    if (!thoughts) return;
    const [san] = this.#game.line([thoughts.chosen]);
    this.#show(`In your place it would play ${san}.`, this.#game.uci(thoughts.chosen));
  }

  #flip() {
    this.#flipped = !this.#flipped;
    this.#board.show({ flipped: this.#flipped });
  }

  async #offerDraw() {
    if (!this.#isYours) return;
    const signal = this.#want();
    this.#show("It thinks about your offer …");
    const thoughts = await this.#think(this.#adviser, signal, "expects for you");
    if (!thoughts) return;
    if (-thoughts.value > DRAWN) return this.#show("It declines, and expects more.");
    this.#game.end("A draw, by agreement.", "1/2-1/2");
    this.#goOn();
  }

  #resign() {
    if (!this.#isYours) return;
    const black = this.#game.turn === "b";
    if (black) this.#game.end("Black resigns: White wins.", "1-0");
    else this.#game.end("White resigns: Black wins.", "0-1");
    this.#goOn();
  }

  async #copy() {
    const pgn = this.#pgn();
    try {
      await navigator.clipboard.writeText(pgn);
    } catch {
      return this.#show("The browser does not let pages copy: save it instead.");
    }
    this.#show("The game is in the clipboard.");
  }

  #pgn() {
    return this.#game.pgn({ white: this.#name("w"), black: this.#name("b") });
  }

  /** Shows the game as it is, with a message or else whose turn it is. */
  #show(message = "", hint = "") {
    const game = this.#game;
    $("status").textContent = message || game.status;
    this.#board.show({
      fen: game.fen,
      moves: this.#isYours ? game.moves : [],
      last: game.plies.at(-1)?.uci ?? "",
      check: game.check,
      flipped: this.#flipped,
      marks: hint ? { [hint.slice(0, 2)]: "hint", [hint.slice(2, 4)]: "hint" } : {},
    });
    const lines = game.lines().map((text) => {
      const line = document.createElement("li");
      line.textContent = text;
      return line;
    });
    $("moves").replaceChildren(...lines);
    $("moves").scrollTop = $("moves").scrollHeight;
    $("fen").value = game.fen;
    $("save").href = `data:application/x-chess-pgn,${encodeURIComponent(this.#pgn())}`;
    for (const id of ["hint", "draw", "resign"]) $(id).disabled = !this.#isYours;
    $("back").disabled = !game.plies.length && !game.agreed.why;
    $("draw").disabled ||= Object.values(this.#players).every((each) => each === YOU);
  }

  #forget() {
    $("value").textContent = "The agent's search appears here when it is its turn.";
    $("meter").value = 0;
    for (const id of ["candidates", "line", "tree", "numbers"]) $(id).replaceChildren();
  }

  #showThoughts(agent, verb, thoughts) {
    const { candidates, value, simulations, nodes, full, line, tree, milliseconds } = thoughts;
    const [played] = this.#game.line([line[0]]);
    $("thinker").textContent = `What “${agent.about.name}” thinks`;
    $("value").textContent =
      `It ${verb} ${signed(value)} with ${played} (+1: a win, −1: a loss).`;
    $("meter").value = value;
    const rows = candidates.slice(0, ROWS).map((each) => {
      const [san] = this.#game.line([each.action]);
      const found = each.visits ? signed(each.value) : "";
      return [san, each.visits.toLocaleString("en"), found, `${(100 * each.prior).toFixed(1)} %`];
    });
    $("candidates").replaceChildren(...rows.map(tableRow));
    $("line").textContent = `Expected: ${this.#game.line(line.slice(0, 8)).join(" ")}`;
    const rate = Number(((1000 * simulations) / milliseconds).toPrecision(2));
    const [done, held, speed] = [simulations, nodes, rate].map((each) => each.toLocaleString("en"));
    const room = full ? ", which has no room for more: its values only get finer" : "";
    $("numbers").textContent =
      `${done} simulations, ${held} positions in its tree${room}; ${speed} simulations a second.`;
    this.#drawTree(tree);
  }

  /** Draws the tree: below each move the replies, as wide as the share of simulations they got. */
  #drawTree(root) {
    const [wide, high] = [$("tree").clientWidth, 26];
    const boxes = [];
    const add = (nodes, x, width, depth, path) => {
      const total = nodes.reduce((sum, each) => sum + each.visits, 0);
      for (const { action, visits, value, children } of nodes) {
        const own = (width * visits) / total;
        if (own >= 4) {
          const here = [...path, action];
          boxes.push({ x, depth, own, value: depth % 2 ? -value : value, here });
          add(children, x, own, depth + 1, here);
        }
        x += own;
      }
    };
    add(root, 0, wide, 0, []);
    $("tree").replaceChildren(
      ...boxes.flatMap(({ x, depth, own, value, here }) => {
        const y = 1 + high * depth;
        const box = svgElement("rect", { x, y, width: own, height: high - 2, fill: shade(value) });
        const san = own >= 34 ? this.#game.line(here).at(-1) : "";
        return [box, svgElement("text", { x: x + 4, y: y + 16 }, san)];
      }),
    );
    $("tree").setAttribute("viewBox", `0 0 ${wide} ${4 * high}`);
  }
}

/** Orange where the side to move expects to lose, blue where it expects to win. */
function shade(value) {
  const share = Math.round(100 * Math.min(1, Math.abs(value)));
  return `color-mix(in oklab, ${value < 0 ? "#e69f00" : "#56b4e9"} ${share}%, #dde3ea)`;
}

function signed(value) {
  return `${value <= -0.005 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;
}

function tableRow(texts) {
  const row = document.createElement("tr");
  for (const text of texts) row.insertCell().textContent = text;
  return row;
}

/** Describes an agent's strength: its best rating by each rule; "" without any. */
function rated({ name, ratings }) {
  const best = (rule) => ratings.find(({ search }) => search.startsWith(rule));
  const known = ["Gumbel", "PUCT"].map(best).filter(Boolean);
  const texts = known.map((each) => `${each.elo} (${each.low} to ${each.high}) by ${each.search}`);
  return texts.length ? `“${name}”: ${texts.join(", ")}.` : "";
}

try {
  const [wasm, pieces, ...files] = await Promise.all([
    file("rungs.wasm"),
    json("pieces.json"),
    ...AGENTS.map(file),
  ]);
  const rungs = await load(wasm);
  const agents = files.map((each) => new Player(rungs, each, NODES));
  document.querySelector("main").hidden = false;
  new Page(rungs, agents, pieces);
} catch (error) {
  $("failed").hidden = false;
  $("failed").textContent = `The page can't begin: ${error.message}`;
}
