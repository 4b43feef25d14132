// Of `js/rungs.js`, `js/agent.js` and `js/game.js`:
// RUNGS_WASM=rungs.wasm RUNGS_AGENT=agent.bin node --test rungs_test.mjs
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { Agent, Network } from "../../js/agent.js";
import { Game, START } from "../../js/game.js";
import { toUci } from "../../js/moves.js";
import { randoms } from "../../js/randoms.js";
import { MAX_LEGAL, REASONS, RungsError, evenly, load } from "../../js/rungs.js";

const rungs = await load(readFileSync(process.env.RUNGS_WASM));
const AGENT = readFileSync(process.env.RUNGS_AGENT);
const MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1";
const SCHOLARS = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR w KQkq - 0 1";
const QUEEN_MATES = 64 * (8 * 3) + 21; // four squares north from f3
const ROOK_MATES = 64 * (8 * 6) + 3; // seven squares north from d1
const refused = (code, message) => (error) =>
  error instanceof RungsError && error.code === code && message.test(error.message);

test("a step says how many games ended, and the next begin", () => {
  const envs = rungs.chess({ startFens: [MATE_IN_ONE] });
  envs.reset(1n);
  assert.equal(envs.step([ROOK_MATES]), 1);
  assert.equal(REASONS[envs.reason[0]], "checkmate");
  assert.equal(envs.fen(0), MATE_IN_ONE);
});

test("a saved state goes on alike, and each seed is a game of its own", () => {
  const envs = rungs.chess({ numEnvs: 3, opponent: "random", openingMax: 4 });
  const play = () => {
    const random = randoms(7);
    for (let step = 0; step < 50; ++step) envs.step(envs.sampleActions(random));
    return [0, 1, 2].map((i) => envs.fen(i));
  };
  envs.reset(BigUint64Array.of(5n, 5n, 2n ** 64n - 1n));
  const state = envs.save();
  const first = play();
  envs.restore(state);
  assert.deepEqual(play(), first);
  assert.notEqual(first[0], first[2]);
  state[60] ^= 255;
  state[200] ^= 255;
  assert.throws(() => envs.restore(state), refused("STATE", /./));
  assert.throws(() => envs.restore(state.subarray(1)), refused("STATE", /bytes/));
});

test("what is wrong is refused, and named", () => {
  const envs = rungs.chess({ numEnvs: 2 });
  assert.throws(() => envs.step([0, 0]), refused("ORDER", /rungs_chess_reset/));
  envs.reset(0);
  assert.throws(() => envs.step([0, 0]), refused("ILLEGAL_ACTION", /environment 0: action 0/));
  assert.throws(() => envs.setFen(0, "no"), refused("FEN", /no/));
  assert.throws(() => rungs.chess({ mask: "bytes" }), refused("ARGUMENT", /mask: bytes/));
  assert.throws(() => rungs.chess({ numEnvs: 0 }), refused("ARGUMENT", /num_envs: 0/));
  // A small batch has no use for a second thread, and asks for none.
  const threads = { numEnvs: 4096, numThreads: 2 };
  assert.throws(() => rungs.chess(threads), refused("THREADS", /1 of 2 threads/));
  assert.throws(() => rungs.cartpole(threads), refused("THREADS", /1 of 2 threads/));
  const carts = rungs.cartpole({ numEnvs: 3 });
  carts.reset(2);
  assert.throws(() => carts.step([1, 2, 1]), refused("ILLEGAL_ACTION", /environment 1/));
});

test("a number that WebAssembly would cut is refused, and named", () => {
  const [envs, carts] = [rungs.chess({ numEnvs: 2 }), rungs.cartpole()];
  const search = rungs.search();
  for (const each of [envs, carts]) each.reset(0);
  search.begin(0, START);
  const integers = [1.9, NaN, Infinity, 2 ** 64, 2n ** 64n, null, "1", true, [1], Symbol("1")];
  const takers = {
    max_plies: (it) => rungs.chess({ maxPlies: it }),
    num_envs: (it) => rungs.cartpole({ numEnvs: it }),
    first_env: (it) => rungs.chess({ firstEnv: it }),
    simulations: (it) => rungs.search({ simulations: it }),
    depth: (it) => rungs.perft(START, it),
    number: (it) => envs.fen(it),
    env: (it) => envs.setFen(it, START),
    game: (it) => search.begin(it, START),
    "actions\\[1\\]": (it) => envs.step([0, it]),
    "actions\\[0\\]": (it) => search.advance([it]),
    "which\\[0\\]": (it) => envs.resetSome([it, 0]),
    "path\\[0\\]": (it) => search.look(0, [it]),
    "seed\\[1\\]": (it) => envs.reset([0, it]),
  };
  const narrow = [2 ** 32 + 1, -(2 ** 32)];
  const wide = ["num_envs", "first_env", "number", "env", "game", "seed\\[1\\]"];
  const others = [
    ["simulations", (it) => search.run(evenly, it)],
    ["game", (it) => search.look(it)],
  ];
  for (const [name, take] of [...Object.entries(takers), ...others]) {
    const cut = wide.includes(name) || name.startsWith("actions") ? [] : narrow;
    for (const wrong of [...integers, ...cut])
      assert.throws(() => take(wrong), refused("ARGUMENT", RegExp(`^${name}: `)), String(wrong));
  }
  for (const seed of [-1, 2n ** 64n, 2 ** 53, 0.5])
    for (const each of [envs, carts])
      assert.throws(() => each.reset(seed), refused("ARGUMENT", /^seed: /));
  for (const wrong of [NaN, 1n, "1"])
    assert.throws(() => rungs.search({ scale: wrong }), refused("ARGUMENT", /^scale: /));
  assert.throws(() => envs.sampleActions(() => NaN), refused("ARGUMENT", /^random: NaN/));
  assert.equal(envs.fen(0), START);
});

test("an array is read by its elements, whatever their type", () => {
  const begun = (which) => {
    const envs = rungs.chess({ numEnvs: 4, openingMin: 4, openingMax: 4 });
    envs.reset([1, 2, 3, 4]);
    const before = [0, 1, 2, 3].map((i) => envs.fen(i));
    envs.resetSome(which);
    return before.map((fen, i) => envs.fen(i) !== fen);
  };
  for (const ArrayType of [Uint8Array, Int8Array, Int32Array, Float64Array, Array])
    assert.deepEqual(begun(ArrayType.from([1, 1, 0, 0])), [true, true, false, false]);
  const half = Float32Array.of(1, 0.5, 0, 0);
  assert.throws(() => begun(half), refused("ARGUMENT", /which\[1\]: 0\.5/));
});

test("views of outputs are arguments, also where memory grows for their copies", () => {
  const numEnvs = 300_000;
  const [given, copied] = [0, 0].map(() => rungs.cartpole({ numEnvs }));
  const actions = BigInt64Array.from({ length: numEnvs }, (_, i) => BigInt(i % 2));
  for (const envs of [given, copied]) envs.reset(3);
  for (let step = 0; step < 12; ++step) {
    for (const envs of [given, copied]) envs.step(actions);
    given.resetSome(given.ended);
    copied.resetSome(copied.ended.slice());
  }
  assert.deepEqual(given.observation, copied.observation);
  for (const envs of [given, copied]) envs.close();
});

test("what is no array of its length, number or handle of this module is refused, and named", async () => {
  const [envs, carts, search] = [rungs.chess({ numEnvs: 2 }), rungs.cartpole(), rungs.search()];
  const other = (await load(readFileSync(process.env.RUNGS_WASM))).chess();
  for (const each of [envs, carts, other]) each.reset(0);
  search.begin(0, START);
  const yielding = (...items) => ({ length: 2, [Symbol.iterator]: () => items.values() });
  for (const wrong of [yielding(1), yielding(1, 2, 3)])
    assert.throws(() => envs.step(wrong), refused("ARGUMENT", /^actions: \d elements, not 2/));
  for (const wrong of [null, undefined, 1, "ab"])
    assert.throws(() => envs.step(wrong), refused("ARGUMENT", /^actions: /));
  const sent = envs.save(); // to a worker, which leaves no buffer here
  structuredClone(sent.buffer, { transfer: [sent.buffer] });
  const arrayLike = [Object.create(Uint8Array.prototype), Object.create(sent)];
  for (const state of [sent, ...arrayLike, { length: -1 }, { length: 2 ** 52 }])
    assert.throws(() => envs.restore(state), refused("ARGUMENT", /^state: /));
  for (const wrong of [Object.create(null), { toString: () => assert.fail() }]) {
    assert.throws(() => envs.step(wrong), refused("ARGUMENT", /^actions: object/));
    assert.throws(() => envs.fen(wrong), refused("ARGUMENT", /^number: object/));
    assert.throws(() => rungs.chess({ mask: wrong }), refused("ARGUMENT", /^mask: object/));
  }
  for (const wrong of [0.5, () => 1n])
    assert.throws(() => envs.sampleActions(wrong), refused("ARGUMENT", /^random: /));
  for (const wrong of [null, {}, { handle: 8 }, carts, search, other]) {
    assert.throws(() => search.beginEnvs(wrong), refused("ARGUMENT", /^envs: /));
    assert.throws(() => search.run(wrong), refused("ARGUMENT", /^evaluate: /));
  }
  assert.equal(search.fen(0), START);
});

test("the settings are those of the header, without what describes the structure itself", () => {
  const names = {
    opponent: "none", observation: "board", mask: "bool", autoreset: "SAME_STEP", policy: "gumbel",
  };
  const made = { chess: rungs.chess(), cartpole: rungs.cartpole(), search: rungs.search() };
  for (const [kind, { config }] of Object.entries(made)) {
    const fields = Object.keys(config).filter((name) => !/^(size|(num_)?start_fens)$/.test(name));
    for (const field of fields) {
      const key = field.replace(/_./g, ([, letter]) => letter.toUpperCase());
      assert.deepEqual(rungs[kind]({ [key]: names[key] ?? config[field] }).config, config, key);
    }
    for (const key of ["size", "numStartFens", "num_envs", "masks", "constructor"])
      assert.throws(() => rungs[kind]({ [key]: 8 }), refused("ARGUMENT", RegExp(key)));
    assert.throws(() => rungs[kind](null), refused("ARGUMENT", /^settings: null/));
  }
  assert.throws(() => rungs.chess({ startFens: START }), refused("ARGUMENT", /^startFens: /));
  assert.throws(() => rungs.chess({ startFens: [1] }), refused("FEN", /1/));
  assert.throws(() => rungs.perft(`${START}\0junk`, 1), refused("FEN", /junk/));
});

test("leaves are counted", () => {
  assert.equal(rungs.perft(START, 4), 197281n);
});

test("a search finds a mate, plays it and knows that the game is over", () => {
  const search = rungs.search({ numGames: 2, simulations: 64, policy: "puct", fraction: 0 });
  search.begin(0, MATE_IN_ONE);
  search.begin(1, START);
  search.run(evenly);
  assert.equal(search.counts[1], 20);
  const most = search.visits.subarray(0, search.counts[0]);
  assert.equal(search.actions[most.indexOf(Math.max(...most))], ROOK_MATES);
  assert.ok(search.value[0] > 0.5);
  search.advance([ROOK_MATES, search.actions[MAX_LEGAL]]);
  assert.equal(REASONS[search.reason[0]], "checkmate");
  assert.equal(REASONS[search.reason[1]], "none");
  search.run(evenly);
  assert.equal(search.chosen[0], -1n);
  assert.throws(() => search.run(() => ({ logits: [], values: [] })), refused("ARGUMENT", /few/));
});

test("a search goes on from environments, and evaluations decide what it plays", () => {
  const envs = rungs.chess({ observation: "planes" });
  const search = rungs.search({ simulations: 16, observation: "planes", scale: 0 });
  envs.reset(0);
  const actions = envs.sampleActions(randoms());
  envs.step(actions);
  const two = new Uint8Array(2);
  assert.throws(() => search.beginEnvs(envs, two), refused("ARGUMENT", /which: 2 elements, not 1/));
  search.beginEnvs(envs);
  assert.equal(search.fen(0), envs.fen(0));
  search.run((here, count) => {
    const { logits, values } = evenly(here, count);
    logits[here.leafCounts[0] - 1] = 50; // the last
    return { logits, values };
  });
  assert.equal(Number(search.chosen[0]), search.actions[search.counts[0] - 1]);
});

test("an agent plays a mate, and says what it thinks", () => {
  const agent = new Agent(rungs, AGENT, { nodes: 2000 });
  assert.equal(typeof agent.about.provenance.kind, "string");
  agent.begin(SCHOLARS);
  agent.think(200);
  const { candidates, chosen, line, simulations, nodes, full, value } = agent.thoughts();
  assert.equal(chosen, QUEEN_MATES);
  assert.deepEqual(line, [QUEEN_MATES]);
  assert.equal(candidates[0].action, QUEEN_MATES);
  assert.equal(candidates[0].value, 1);
  assert.ok(value > 0.9);
  assert.equal(simulations, 200);
  const sum = (name) => candidates.reduce((total, each) => total + each[name], 0);
  assert.equal(sum("visits"), 200);
  assert.ok(Math.abs(sum("prior") - 1) < 1e-5);
  assert.ok(nodes > 1 && nodes <= 201);
  assert.equal(full, false);
  const [{ visits }] = candidates;
  const [mate] = agent.tree(3, 0.02).filter(({ action }) => action === QUEEN_MATES);
  assert.deepEqual(mate, { action: QUEEN_MATES, visits, value: 1, children: [] });
  agent.close();
});

test("by PUCT a tree is the same whether it grows at once or in parts", () => {
  const found = [[300], [1, 99, 150, 50]].map((parts) => {
    const agent = new Agent(rungs, AGENT);
    const game = new Game(rungs);
    for (const san of ["e4", "e5", "Nf3"]) game.play(san);
    agent.begin(game.start, game.actions);
    for (const part of parts) agent.think(part);
    return agent.thoughts();
  });
  assert.deepEqual(found[0], found[1]);
  assert.ok(found[0].line.length > 1);
});

test("a full tree goes on without growing, and Gumbel's choice is among what it considered", () => {
  const agent = new Agent(rungs, AGENT, { policy: "gumbel", simulations: 64, nodes: 65 });
  agent.begin(START);
  agent.think(64);
  agent.think(64);
  const { candidates, chosen, nodes, full } = agent.thoughts();
  assert.equal(nodes, 65);
  assert.ok(full);
  assert.ok(candidates.find(({ action }) => action === chosen).visits > 0);
});

test("what is no agent is refused", () => {
  const made = (file) => () => new Network(rungs, file);
  assert.throws(made(new Int32Array(5)), refused("ARGUMENT", /file/));
  assert.throws(made(new Uint8Array(5)), refused("ARGUMENT", /line of JSON/));
  assert.throws(made(AGENT.subarray(0, -2)), refused("ARGUMENT", /1537664/));
  const spoilt = Uint8Array.from(AGENT);
  spoilt.set([0, 0x7c], spoilt.indexOf(10) + 1);
  assert.throws(() => new Network(rungs, spoilt), refused("ARGUMENT", /weights\[0\]: .* finite/));
});

test("a game is written and ends as it is played", () => {
  const game = new Game(rungs);
  for (const text of ["f3", "e7e5", "g4"]) game.play(text);
  for (const text of ["Ke5", null, 5]) assert.throws(() => game.play(text), RangeError);
  assert.deepEqual(game.lines(), ["1. f3 e5", "2. g4"]);
  assert.deepEqual(game.line([toActionOf(game, "d8h4")]), ["Qh4#"]);
  game.play("Qh4");
  assert.match(game.status, /checkmate/);
  assert.deepEqual([game.result, game.over, game.moves], ["0-1", true, []]);
  assert.match(game.pgn({ white: "a", black: 'b "c"' }), /Black "b \\"c\\""[^]*2\. g4 Qh4# 0-1\n$/);
  assert.match(game.pgn({ white: "a", black: "b\r\nc" }), /\[Black "b c"\]/);
  assert.throws(() => game.play("e4"), RangeError);
  game.takeBack(2);
  assert.deepEqual([game.lines(), game.turn, game.over], [["1. f3 e5"], "w", false]);
  game.end("White resigns.", "0-1");
  assert.deepEqual([game.status, game.moves, game.result], ["White resigns.", [], "0-1"]);
  assert.throws(() => game.begin("no"), refused("FEN", /no/));
  assert.equal(game.result, "0-1");
  game.begin("8/P6k/8/8/8/8/7K/8 b - - 0 7");
  for (const text of ["Kh6", "a8n"]) game.play(text);
  assert.deepEqual(game.lines(), ["7… Kh6", "8. a8=N"]);
  game.begin("4k3/7p/8/8/8/5n2/8/4K3 w - - 0 1");
  assert.equal(game.check, "e1");
  assert.match(game.status, /White/);
});

/** The action of a legal move. */
function toActionOf(game, uci) {
  const search = rungs.search({ simulations: 1 });
  search.begin(0, game.fen);
  search.run(evenly);
  return [...search.actions.slice(0, search.counts[0])].find((a) => toUci(a, game.fen) === uci);
}
