"""The C API in WebAssembly: what it needs of its host, and that it plays, in Node."""

import functools
import hashlib
import importlib.util
import io
import json
import os
import re
import subprocess
from pathlib import Path

import chess
import chess.pgn
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import rungs
from rungs._src import paths
from rungs._src.chess.fen import board_of
from rungs._src.chess.observation import OBSERVATIONS, format_name
from rungs._src.chess.settings import checked_start
from rungs._src.selfplay import agent as files
from rungs_course import agents
from rungs_course.paths import ROOT, WASM
from rungs_course.peers.agreement import ending
from tests.library.chess.test_fen import ACCEPTED, REFUSED, accepts
from tests.library.chess.test_sameness import EVERY_RUNGS_GAMES
from tests.library.native import c_handles
from tests.library.search.made_up import random_fens
from tests.processes import succeed
from tests.proof import lockstep
from tools import wasm

HERE = Path(__file__).parent
KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
PROMOTING = "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1"
NEEDS_NODE = pytest.mark.needs("node")

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(not importlib.util.find_spec("ziglang"), reason="zig is not installed"),
]


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    """What `make wasm` compiled, or what is compiled now where that is missing or older."""
    sources = [path for path in paths.CPP.rglob("*") if path.is_file()]
    if WASM.exists() and WASM.stat().st_mtime > max(path.stat().st_mtime for path in sources):
        return WASM
    file = tmp_path_factory.mktemp("wasm") / "rungs.wasm"
    wasm.build(file)
    return file


@pytest.fixture(scope="module")
def agent(tmp_path_factory):
    file = tmp_path_factory.mktemp("agent") / "agent.bin"
    file.write_bytes(agents.packed(files.load(agents.recorded_in() / "1"), []))
    return file


@pytest.fixture
def run_script(module, tmp_path):
    """Runs JavaScript that has the module as `rungs`, and `given`; returns what it prints."""

    def run(code, given=None, **files):
        (tmp_path / "given.json").write_text(json.dumps(given))
        files |= {"module": module, "given": tmp_path / "given.json"}
        paths = json.dumps({name: str(file) for name, file in files.items()})
        head = f"""
import {{ readFileSync }} from "node:fs";
import {{ Network }} from "./js/agent.js";
import {{ Game }} from "./js/game.js";
import {{ RungsError, load }} from "./js/rungs.js";
const files = {paths};
const rungs = await load(readFileSync(files.module));
const given = JSON.parse(readFileSync(files.given));
const plain = (_, each) => (ArrayBuffer.isView(each) ? [...each] : each);
const print = (value) => console.log(JSON.stringify(value, plain));
"""
        command = ["node", "--input-type=module", "--eval", head + code]
        return json.loads(succeed(command, cwd=ROOT))

    return run


# Those of the position, which resets write as well, and those of a step.
POSITION = ("observation", "mask", "player")
STEP = ("reward", "terminated", "truncated", "ended", "reason", "final_observation")
SEEDS = ([3], [2**63], [2**64 - 1], [1, 2**64 - 1, 7, 2**63, 0])
STEPS, CARTS = 80, 70


def in_javascript(settings):
    """The settings of `js/rungs.js` for those of an environment in Python."""
    return {
        "numEnvs": 5,
        "opponent": settings.opponent or "none",
        "observation": format_name(settings.obs, settings.dtype),
        "mask": settings.mask,
        "autoreset": settings.autoreset_mode.name,
        "maxPlies": settings.max_plies,
        "openingMin": settings.opening_plies[0],
        "openingMax": settings.opening_plies[1],
        "startFens": settings.starts,
    }


def write_game(file, settings, policy, seeds):
    """Plays a game on the rung `cpp`, and writes its actions, resets and outputs."""
    env = rungs.make("chess", "cpp", 5, **settings)
    rng = np.random.default_rng(0)
    written = []

    def note(*names):
        written.extend(getattr(env.boards.buffers, name).tobytes() for name in names)

    observation, info = env.reset(seed=seeds if len(seeds) > 1 else seeds[0])
    note(*POSITION)
    for _ in range(STEPS):
        actions = lockstep.POLICIES[policy](info["action_mask"], observation, rng)
        written.append(actions.astype(np.int64).tobytes())
        observation, _, terminated, truncated, info = env.step(actions)
        note(*POSITION, *STEP)
        ended = terminated | truncated
        if env.settings.autoreset_mode != AutoresetMode.DISABLED:
            ended = np.zeros(5, bool)
        written.append(ended.tobytes())
        if ended.any():
            observation, info = env.reset(options={"reset_mask": ended})
            note(*POSITION)
    file.write_bytes(b"".join(written))
    first = {"firstEnv": settings.get("first_board", 0)}
    outputs = {"position": POSITION, "step": [*STEP[:-1], "finalObservation"]}
    made = {"kind": "chess", "settings": in_javascript(env.settings) | first}
    return made | outputs | {"seeds": [str(seed) for seed in seeds], "steps": STEPS}


def write_carts(file, dtype):
    """As `write_game`, of CartPole."""
    env, rng = rungs.make("cartpole", "cpp", CARTS, dtype=dtype), np.random.default_rng(0)
    observation, _ = env.reset(seed=3)
    written = [observation.tobytes()]
    for _ in range(STEPS):
        actions = rng.integers(2, size=CARTS)
        observation, *outputs, _ = env.step(actions)
        arrays = (actions, observation, *outputs, np.zeros(CARTS, bool))
        written += [array.tobytes() for array in arrays]
    file.write_bytes(b"".join(written))
    settings = {"numEnvs": CARTS, "precision": np.dtype(dtype).itemsize}
    outputs = {"position": ["observation"], "step": ["reward", "terminated", "truncated"]}
    return {"kind": "cartpole", "settings": settings, "seeds": ["3"], "steps": STEPS} | outputs


@NEEDS_NODE
def test_node_plays_in_lockstep_with_cpp(module, tmp_path):
    every_observation = [
        ({"obs": obs, "dtype": dtype, "max_plies": 20}, "uniform") for obs, dtype in OBSERVATIONS
    ]
    games = [
        write_game(tmp_path / str(number), settings, policy, SEEDS[number % len(SEEDS)])
        for number, (settings, policy) in enumerate([*EVERY_RUNGS_GAMES, *every_observation])
    ]
    for dtype in ("float32", "float64"):
        games.append(write_carts(tmp_path / str(len(games)), dtype))
    (tmp_path / "games.json").write_text(json.dumps(games))
    command = ["node", HERE / "lockstep.mjs", module, tmp_path]
    succeed(command)
    played = bytearray((tmp_path / "0").read_bytes())
    played[-6] ^= 1  # of the last step's outputs
    (tmp_path / "0").write_bytes(played)
    wrong = subprocess.run(command, capture_output=True, text=True)
    assert wrong.returncode
    assert f"game 0, step {STEPS - 1}: finalObservation" in wrong.stderr


@NEEDS_NODE
def test_the_modules_of_javascript_do_what_they_say(module, agent):
    command = ["node", "--test", "--test-reporter=tap", HERE / "rungs_test.mjs"]
    environment = os.environ | {"RUNGS_WASM": str(module), "RUNGS_AGENT": str(agent)}
    assert re.search(r"^# pass [1-9]", succeed(command, env=environment), re.MULTILINE)


@NEEDS_NODE
def test_games_are_written_as_python_chess_writes_them(run_script):
    """Classical and of Chess960; a move is given in UCI or SAN, castling in either form."""
    rng = np.random.default_rng(1)
    starts = [chess.STARTING_FEN, KIWIPETE, KIWIPETE, PROMOTING]
    starts += [chess.Board.from_chess960_pos(int(i)).fen() for i in rng.integers(960, size=250)]
    games, expected, castled = [], [], 0
    for number, start in enumerate(starts):
        board = chess.Board(start)
        board.chess960 = board.has_chess960_castling_rights()
        given, sans, ucis, legal = [], [], [], []
        while len(given) < 40 and not ending(board):
            moves = list(board.legal_moves)
            castlings = [move for move in moves if board.is_castling(move)]
            castles = bool(castlings) and rng.random() < 0.3
            move = rng.choice(castlings if castles else moves)
            legal.append(sorted(map(board.uci, moves)))
            ucis.append(board.uci(move))
            forms = board.san(move), ucis[-1], board.uci(move, chess960=castles)
            given.append(forms[number % 3])
            sans.append(board.san_and_push(move))
            castled += castles
        games.append({"fen": start, "moves": given})
        expected.append({"sans": sans, "ucis": ucis, "legal": legal, "check": board.is_check()})
    assert castled > len(starts) / 2
    code = """
const game = new Game(rungs);
print(given.map(({ fen, moves }) => {
  game.begin(fen);
  const legal = moves.map((move) => {
    const before = game.moves.sort();
    game.play(move);
    return before;
  });
  const [sans, ucis] = ["san", "uci"].map((key) => game.plies.map((ply) => ply[key]));
  return { sans, ucis, legal, check: game.check !== "", pgn: game.pgn({ white: "a", black: "b" }) };
}));
"""
    played = run_script(code, games)
    pgns = [game.pop("pgn") for game in played]
    assert played == expected
    for pgn, start, game in zip(pgns, starts, expected, strict=True):
        read = chess.pgn.read_game(io.StringIO(pgn))
        assert not read.errors
        board = read.board()
        assert board.fen() == start
        assert [board.san_and_push(move) for move in read.mainline_moves()] == game["sans"]
        assert max(map(len, pgn.partition("\n\n")[2].splitlines())) < 80


@NEEDS_NODE
def test_javascript_takes_the_fens_that_python_takes(run_script):
    fens = [*ACCEPTED, *REFUSED, f"{chess.STARTING_FEN}\0 b"]
    rng = np.random.default_rng(2)
    for _ in range(2000):
        letters = list(rng.choice(ACCEPTED))
        for at in rng.integers(len(letters), size=rng.integers(1, 3)):
            letters[at] = str(rng.choice(["", *"KQkqHAhrnbpP/18 0+_~-e36wb", "  ", "\t", "\u0665"]))
        fens.append("".join(letters))
    code = """
const [game, search] = [new Game(rungs), rungs.search({ simulations: 1 })];
const accepts = (read) => (fen) => {
  try { read(fen); } catch (error) {
    if (error instanceof RungsError && error.code === "FEN") return false;
    throw error;
  }
  return true;
};
const readers = [
  (fen) => rungs.perft(fen, 0),
  (fen) => game.begin(fen),
  (fen) => search.begin(0, fen),
  (fen) => rungs.chess({ startFens: [fen], mask: "list" }).close(),
];
print(readers.map((read) => given.map(accepts(read))));
"""
    found = run_script(code, fens)
    start = functools.partial(checked_start, "fen", listed=True)
    for read, answers in zip((board_of, start, start, start), found, strict=True):
        assert [
            fen for fen, answer in zip(fens, answers, strict=True) if answer != accepts(read, fen)
        ] == []
    assert sum(found[0]) > 100


@NEEDS_NODE
def test_an_agents_searches_are_those_of_the_c_api_bit_for_bit(run_script, agent):
    """Natively they are compiled without fused operations, which WebAssembly has not.

    With them last bits differ: then values are close.
    """
    fens = random_fens(np.random.default_rng(3), 40)
    code = """
const settings = { policy: "puct", fraction: 0, temperature: 0, simulations: 24 };
const search = rungs.search({ numGames: given.length, ...settings });
given.forEach((fen, game) => search.begin(game, fen));
search.run(new Network(rungs, readFileSync(files.agent)));
const { visits, priors, actionValues, value, rawValue } = search;
print({ visits, priors, action_values: actionValues, value, raw_value: rawValue });
"""
    found = run_script(code, fens, agent=agent)
    weights = np.frombuffer(agent.read_bytes().partition(b"\n")[2], np.float16)
    settings = {"policy": 1, "fraction": 0.0, "temperature": 0.0, "simulations": 24}
    search = c_handles.Search(num_games=len(fens), **settings)

    def searched(march):
        for game, fen in enumerate(fens):
            search.call("begin", game, fen.encode())
        search.run(c_handles.Network(weights, march).evaluate)
        names = ("visits", "priors", "action_values", "value", "raw_value")
        return {name: getattr(search, name).copy() for name in names}

    theirs = {
        name: np.array(each, np.float32).reshape(len(fens), -1) for name, each in found.items()
    }
    for name, ours in searched("x86-64-v2").items():
        np.testing.assert_array_equal(theirs[name], ours.reshape(len(fens), -1), name)
    raw = searched("native")["raw_value"]
    np.testing.assert_allclose(theirs["raw_value"][:, 0], raw, rtol=0, atol=2e-6)
    assert len(np.unique(raw)) > 30


@NEEDS_NODE
def test_the_example_on_the_page_runs(module):
    page = (ROOT / "docs" / "howto" / "webassembly.md").read_text()
    (code,) = re.findall(r"```js\n(.*?)```", page, re.DOTALL)
    code = code.replace("lib/rungs/compiled/rungs.wasm", str(module))
    printed = succeed(["node", "--input-type=module", "--eval", code], cwd=ROOT)
    assert re.fullmatch(r"[pnbrqkPNBRQK1-8/]+ [wb] .* \d+ \d+\n", printed)


@pytest.mark.release
def test_the_same_sources_make_the_same_file(module, tmp_path):
    wasm.build(tmp_path / "again.wasm")
    again, first = (
        hashlib.sha256(file.read_bytes()).digest() for file in (tmp_path / "again.wasm", module)
    )
    assert again == first


@NEEDS_NODE
def test_it_is_small_and_asks_its_host_for_a_clock_and_files_alone(module, run_script):
    code = """
const compiled = new WebAssembly.Module(readFileSync(files.module));
print([WebAssembly.Module.imports(compiled), WebAssembly.Module.exports(compiled)]);
"""
    imports, exports = run_script(code)
    assert {each["module"] for each in imports} == {"wasi_snapshot_preview1"}
    names = {each["name"] for each in imports}
    assert names <= {"clock_time_get", "fd_close", "fd_seek", "fd_write"}
    assert {each["name"] for each in exports} == {*wasm.exported(), "memory", "_initialize"}
    assert module.stat().st_size < 1.2e6
