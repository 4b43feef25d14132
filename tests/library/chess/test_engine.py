"""An engine as the opponent: what it plays, what happens when it fails, and that it ends."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import chess
import numpy as np
import psutil
import pytest

import rungs
from rungs._src.chess import engine
from rungs._src.chess.engine import EngineProcess, UciEngine, engine_name, find_program
from rungs._src.chess.policy import random_actions
from rungs.errors import ConfigurationError, EngineError, IllegalActionError
from tests.library.chess.test_errors import outputs_and_fens
from tests.proof import lockstep

# What asks engines is the same for all rungs, whose lockstep other tests show.
RUNGS = ["python", "cpp"]
STOCKFISH = find_program("stockfish")
needs_stockfish = pytest.mark.skipif(not STOCKFISH, reason="stockfish is not installed")


@pytest.fixture(params=RUNGS)
def rung(request):
    return request.param


@pytest.fixture
def fake(tmp_path):
    """Writes a program that is the fake engine with its failure, and says which are running."""

    class Fake:
        program = tmp_path / "engine"

        def __call__(self, *failure, child=False, timeout=600, **settings):
            uci = Path(__file__).with_name("uci.py")
            # A child has the engine's input and output, and ignores the end of both.
            before = "(trap '' HUP INT TERM; sleep 1000) &" if child else ""
            self.program.write_text(
                f"#!/bin/sh\nexport RUNGS_TEST={tmp_path}\n{before}\n"
                f"exec {sys.executable} {uci} {' '.join(failure)}\n"
            )
            self.program.chmod(0o755)
            # Patient, as a busy machine may take long to start it.
            return UciEngine(self.program, timeout=timeout, **settings)

        def running(self):
            mark = f"RUNGS_TEST={tmp_path}".encode()
            return [pid for pid in os.listdir("/proc") if pid.isdigit() and marked(pid, mark)]

        def wait_for(self, number, seconds=60):
            """Waits until `number` processes run; says whether they do."""
            deadline = time.monotonic() + seconds
            while len(self.running()) != number and time.monotonic() < deadline:
                time.sleep(0.02)
            return len(self.running()) == number

        def heard(self):
            """Returns the options that were set, and then what the last search was told."""
            *options, last = (tmp_path / "heard").read_text().splitlines()
            return {line for line in options if line.startswith("setoption")}, last

        def all_gone(self):
            return self.wait_for(0)

    return Fake()


def marked(pid, mark):
    try:
        return mark in Path("/proc", pid, "environ").read_bytes()
    except OSError:  # gone meanwhile, or another user's
        return False


@needs_stockfish
def test_an_engine_says_its_name():
    assert engine_name(STOCKFISH).startswith("Stockfish")


def test_a_program_without_a_name_is_an_error():
    with pytest.raises(EngineError, match="true does not say its name"):
        engine_name("true")


def first_move(board):
    return min(move.uci() for move in board.legal_moves)


def test_one_step_is_the_agents_ply_and_the_engines(rung, fake):
    env = rungs.make("chess", rung, 3, opponent=fake())
    _, info = env.reset()
    # On board 1 the agent is Black, and the engine has opened.
    expected = [chess.Board(), chess.Board(), chess.Board()]
    expected[1].push_uci(first_move(expected[1]))
    assert env.fens() == [board.fen() for board in expected]
    assert info["player"].tolist() == [0, 1, 0]
    rng = np.random.default_rng(0)
    for _ in range(20):
        actions = random_actions(info["action_mask"], rng)
        for i, board in enumerate(expected):
            moves = {action: move for move, action in env.legal_moves(i).items()}
            board.push_uci(moves[actions[i]])
            board.push_uci(first_move(board))
        *_, info = env.step(actions)
        assert env.fens() == [board.fen() for board in expected]
    env.close()
    assert fake.all_gone()


@pytest.mark.parametrize("rung", RUNGS)
def test_colours_change_with_every_episode(rung, fake):
    env = rungs.make("chess", rung, 2, opponent=fake(), max_plies=2)
    _, info = env.reset()
    for episode in range(4):
        assert info["player"].tolist() == [episode % 2, 1 - episode % 2]
        *_, truncated, info = env.step([min(env.legal_moves(board).values()) for board in (0, 1)])
        assert truncated.all()
    env.close()


def test_copies_are_replied_to_as_their_sources(rung, fake):
    env = rungs.make("chess", rung, 2, opponent=fake(), max_plies=4)
    env.reset()

    def play():
        """Two steps, in which an episode ends on either board; whose turn it is in the next."""
        for _ in range(2):
            *_, truncated, info = env.step([min(env.legal_moves(i).values()) for i in (0, 1)])
        assert truncated.all()
        return info["player"].tolist()

    env.copy_boards([0], [1])
    snapshot = env.snapshot()
    assert play() == [1, 1]  # in episode 1 of board 0, twice
    assert len(set(env.fens())) == 1
    env.restore(snapshot)
    assert play() == [1, 1]
    env.restore(snapshot, randomness="own")
    assert play() == [0, 1]  # in episodes 2 of boards 0 and 1
    env.close()


@pytest.mark.parametrize("rung", RUNGS[1:])
@pytest.mark.parametrize("mode", ["SAME_STEP", "NEXT_STEP", "DISABLED"])
@pytest.mark.parametrize("start", [None, "chess960"])
def test_every_rung_plays_the_same_games(rung, fake, mode, start):
    settings = {"autoreset_mode": mode, "max_plies": 40, "opening_plies": (0, 4), "obs": "planes"}
    settings["start"] = start
    pair = [rungs.make("chess", name, 4, opponent=fake(), **settings) for name in (rung, "python")]
    reasons = lockstep.play(*pair, seed=1, steps=60, rollout=3)
    assert sum(reasons.values()) >= 8
    for env in pair:
        env.close()


class Weak(UciEngine):
    """An engine with settings of its own."""

    def __init__(self, path):
        super().__init__(path, depth=2, options={"Hash": 1})


@pytest.mark.parametrize("rung", ["python", "cpp", "threads", "openmp"])
def test_a_subclass_of_an_engine_is_one(rung, fake):
    path = fake().path
    kinds = (Weak(path), UciEngine(path, depth=2, options={"Hash": 1}))
    pair = [rungs.make("chess", rung, 4, opponent=kind, max_plies=9) for kind in kinds]
    lockstep.play(*pair, seed=1, steps=12)
    states = [env.get_state() for env in pair]
    assert states[0] == states[1]
    for env in pair:
        env.close()


def test_one_is_found_where_debian_puts_games(fake, monkeypatch):
    folder = Path(fake().path).parent
    monkeypatch.setattr(engine, "_GAMES", str(folder))
    env = rungs.make("chess", "cpp", 2, opponent=UciEngine("engine"))
    assert env.settings.opponent.path == "engine"  # as it was named, wherever it is
    env.reset()
    assert len(fake.running()) == 1
    env.close()


@pytest.mark.parametrize("rung", RUNGS)
def test_it_castles_as_in_chess960(rung, fake):
    fen = "6k1/5p2/8/8/8/8/PP6/KR6 w B - 0 1"
    env = rungs.make("chess", rung, 2, opponent=fake(), start_fens=[fen])
    env.reset()
    ours, theirs = (chess.Board(fen, chess960=True) for _ in range(2))
    theirs.push_uci("a1b1")  # on board 1 the engine is White: castling is the first of its moves
    assert env.fens() == [ours.fen(), theirs.fen()]
    assert theirs.piece_at(chess.G1) == chess.Piece.from_symbol("K")
    env.step([env.legal_moves(0)["a1b1"], env.legal_moves(1)["f7f6"]])
    ours.push_uci("a1b1")
    theirs.push_uci("f7f6")
    for board in (ours, theirs):
        board.push_uci(first_move(board))
    assert env.fens() == [ours.fen(), theirs.fen()]
    env.close()


@pytest.mark.parametrize("rung", RUNGS)
def test_one_that_can_not_play_chess960_says_so(rung, fake):
    env = rungs.make("chess", rung, 2, opponent=fake("classical", "0"), start="chess960")
    with pytest.raises(EngineError, match=r"board 1: .*does not support UCI_Chess960"):
        env.reset()
    env.close()


@pytest.mark.parametrize(
    ("fen", "move", "expected"),
    [
        ("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1", "a1a8", 1),
        ("7k/8/8/8/8/r7/1r5P/7K w - - 0 1", "h2h3", -1),  # the engine's a3a1 mates
        ("7k/8/8/8/8/r7/1r6/7K w - - 0 1", "h1g1", -1),
    ],
)
def test_the_agent_may_mate_or_be_mated(rung, fake, fen, move, expected):
    env = rungs.make("chess", rung, 1, opponent=fake(), start_fens=[fen])
    env.reset()
    _, reward, terminated, _, _ = env.step([env.legal_moves(0)[move]])
    assert (reward[0], terminated[0]) == (expected, True)
    env.close()


@pytest.mark.parametrize(
    ("failure", "why"),
    [
        ("crash", "failed"),
        ("hang", "2.0 s"),
        ("illegal", "failed"),
        ("nonsense", "failed"),
        ("none", "no move"),
        ("null", "no move"),
        ("empty", "no move"),
        ("long", "eee"),
    ],
)
def test_a_failing_engine_names_the_board_and_changes_nothing(rung, fake, failure, why):
    engine = fake(failure, "7", timeout=2 if failure == "hang" else 600)
    env = rungs.make("chess", rung, 3, opponent=engine, first_board=4)
    # Board 5 is opened with move 1; moves 2 to 4 are replies.
    _, info = env.reset()
    rng = np.random.default_rng(0)
    *_, info = env.step(random_actions(info["action_mask"], rng))
    actions = random_actions(info["action_mask"], rng)
    before, fens = outputs_and_fens(env), env.fens()
    with pytest.raises(EngineError, match="board 6") as caught:
        env.step(actions)  # moves 5 to 7
    assert caught.value.board == 6
    message = str(caught.value)
    assert why in message
    assert str(fake.program) in message
    assert re.search(r"in \S+/\S+ b ", message)  # the position
    assert len(message) < 1200
    assert outputs_and_fens(env) == before
    assert fake.all_gone()
    # It is started again when needed, and the game goes on.
    env.step(actions)
    assert env.fens() != fens
    env.close()
    assert fake.all_gone()


def test_a_failure_to_open_changes_nothing(rung, fake):
    env = rungs.make("chess", rung, 2, opponent=fake("crash", "4"), max_plies=2)
    env.reset()  # board 1: move 1
    before = outputs_and_fens(env)
    with pytest.raises(EngineError, match="board 0"):  # replies 2 and 3, then it opens on board 0
        env.step([env.legal_moves(i)[move] for i, move in enumerate(("e2e4", "e7e5"))])
    assert outputs_and_fens(env) == before
    env.close()


def test_a_failed_first_reset_can_be_tried_again(rung, fake):
    env = rungs.make("chess", rung, 2, opponent=fake("crash", "1"), seed=3)
    with pytest.raises(EngineError, match="board 1"):
        env.reset()
    fake()
    env.reset()
    other = rungs.make("chess", rung, 2, opponent=fake(), seed=3)
    other.reset()
    assert env.fens() == other.fens()
    env.close()
    other.close()


def test_a_mute_engine_is_given_up(rung, fake):
    env = rungs.make("chess", rung, 2, opponent=fake("mute", timeout=0.3))
    with pytest.raises(EngineError, match=r"board 1.*did not answer within 0.3 s"):
        env.reset()
    assert fake.all_gone()


def test_an_illegal_action_is_refused_before_the_engine_is_asked(rung, fake):
    env = rungs.make("chess", rung, 3, opponent=fake("crash", "2"))
    env.reset()
    before = outputs_and_fens(env)
    with pytest.raises(IllegalActionError, match="board 2"):
        env.step([env.legal_moves(i)[move] for i, move in ((0, "e2e4"), (1, "e7e5"))] + [384])
    assert outputs_and_fens(env) == before
    env.close()


SCRIPT = """
import os, signal, sys, rungs
from rungs._src.chess.engine import EngineProcess, UciEngine
env = rungs.make("chess", "python", 2, opponent=UciEngine(sys.argv[1]))
env.reset()
if sys.argv[2] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[2] == "raises":
    1 / 0
"""


@pytest.mark.system
@pytest.mark.parametrize("how", ["exits", "raises", "killed"])
def test_no_engine_outlives_its_environment(fake, how):
    engine = fake(child=True)
    done = subprocess.run([sys.executable, "-c", SCRIPT, engine.path, how], timeout=60)
    assert done.returncode == {"exits": 0, "raises": 1, "killed": -signal.SIGKILL}[how]
    assert fake.all_gone()


def test_it_works_where_an_event_loop_runs(rung, fake):
    """As in a notebook."""
    import asyncio

    async def cell():
        env = rungs.make("chess", rung, 2, opponent=fake())
        env.reset()
        env.close()

    asyncio.run(cell())


def test_an_unknown_option_is_named(rung, fake):
    env = rungs.make("chess", rung, 2, opponent=fake(options={"Colour": "blue"}))
    with pytest.raises(EngineError, match="Colour"):
        env.reset()
    assert fake.all_gone()


LIMITS = {
    "go depth 1": {},
    "go depth 3": {"depth": 3},
    "go nodes 500": {"nodes": 500},
    "go depth 3 nodes 500": {"depth": 3, "nodes": 500},
    "go movetime 20": {"seconds": 0.02},
}


@pytest.mark.parametrize("told", LIMITS)
def test_its_search_is_limited_as_asked(fake, told):
    with contextlib.closing(EngineProcess(fake(**LIMITS[told]))) as process:
        process.reply(chess.Board(), 0)
    assert fake.heard()[1] == told


@pytest.mark.parametrize(
    ("strength", "options"),
    [
        ({"skill": 0}, {"Skill Level value 0"}),
        ({"elo": 1500}, {"UCI_LimitStrength value true", "UCI_Elo value 1500"}),
        ({"skill": 3, "options": {"Hash": 1}}, {"Skill Level value 3", "Hash value 1"}),
    ],
)
def test_its_strength_is_set_by_its_options(fake, strength, options):
    with contextlib.closing(EngineProcess(fake(**strength))) as process:
        process.reply(chess.Board(), 0)
    assert {f"setoption name {option}" for option in options} <= fake.heard()[0]


def test_a_strength_out_of_its_range_is_told_by_the_engine(fake):
    with pytest.raises(EngineError, match=r"UCI_Elo.*1350"):
        EngineProcess(fake(elo=1000)).reply(chess.Board(), 0)
    assert fake.all_gone()


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"skill": 3, "elo": 1500}, "skill=3 and elo=1500"),
        ({"skill": 3, "options": {"skill level": 2}}, "option skill level"),
        ({"elo": 1500, "options": {"UCI_Elo": 1600}}, "option UCI_Elo"),
        ({"seconds": 10.0, "timeout": 10.0}, "seconds=10.0.*timeout=10.0"),
        ({"skill": 21}, "skill=21"),
        ({"nodes": 0}, "nodes=0"),
    ],
)
def test_settings_that_can_not_be_are_refused(fake, settings, named):
    with pytest.raises(ConfigurationError, match=named):
        fake(**settings)


@needs_stockfish
@pytest.mark.system
@pytest.mark.parametrize(
    "how", [{"nodes": 2000}, {"seconds": 0.01}, {"elo": 1350, "nodes": 2000}, {"skill": 3}]
)
def test_stockfish_takes_its_settings(how):
    with contextlib.closing(EngineProcess(UciEngine(STOCKFISH, **how))) as process:
        assert process.reply(chess.Board(), 0) in chess.Board().legal_moves


@needs_stockfish
@pytest.mark.system
def test_stockfish_plays_the_same_on_every_rung(rung):
    engine = UciEngine(STOCKFISH, depth=2, options={"Hash": 1})
    settings = {"opponent": engine, "max_plies": 60}
    pair = [rungs.make("chess", name, 3, **settings) for name in (rung, "python")]
    reasons = lockstep.play(*pair, seed=3, steps=40)
    assert sum(reasons.values()) >= 3
    for env in pair:
        env.close()


def test_nothing_is_logged_where_an_engine_is_stopped(fake, caplog):
    """As asyncio does where the exit status of a process of its own was collected elsewhere."""
    for _ in range(5):
        engine = EngineProcess(fake())
        engine.reply(chess.Board(), 0)
        engine.close()
    assert not caplog.records


# That it crashed is seen only when it is late, as its child has its output.
@pytest.mark.parametrize(("failure", "timeout"), [("nonsense", 600), ("crash", 2)])
def test_an_engines_children_end_when_it_fails(fake, failure, timeout):
    env = rungs.make("chess", "cpp", 2, opponent=fake(failure, "2", child=True, timeout=timeout))
    env.reset()
    assert fake.wait_for(2)
    with pytest.raises(EngineError):
        env.step([env.legal_moves(0)["e2e4"], env.legal_moves(1)["e7e5"]])
    assert fake.all_gone()
    env.close()


@pytest.mark.parametrize("how", ["closed", "forgotten"])
def test_an_engine_and_its_children_end_with_the_environment(rung, fake, how):
    env = rungs.make("chess", rung, 2, opponent=fake(child=True))
    env.reset()
    assert fake.wait_for(2)
    if how == "closed":
        env.close()
    del env
    assert fake.all_gone()


def test_a_program_that_is_no_engine_leaves_no_process():
    before = psutil.Process().children()
    env = rungs.make("chess", "cpp", 2, opponent=UciEngine(sys.executable, timeout=0.5))
    with pytest.raises(EngineError):
        env.reset()
    env.close()
    assert psutil.Process().children() == before
