"""An engine as the opponent: its replies, its failures, and the end of its process."""

import asyncio
import contextlib
import dataclasses
import os
import signal
import subprocess
import sys
from pathlib import Path

import chess
import numpy as np
import pytest

import rungs
from rungs._src import programs
from rungs._src.chess import engine
from rungs._src.chess.engine import EngineProcess, UciEngine, engine_name
from rungs._src.chess.policy import random_actions
from rungs._src.programs import find_program
from rungs.errors import ConfigurationError, EngineError, IllegalActionError
from tests.library.chess.test_errors import unchanged
from tests.library.chess.test_parallel import gone, shared_things
from tests.processes import poll
from tests.proof import lockstep


@pytest.fixture
def make():
    """Makes environments, and closes them."""
    with contextlib.ExitStack() as stack:

        def enter(rung, num_envs, **settings):
            env = rungs.make("chess", rung, num_envs, **settings)
            stack.callback(env.close)
            return env

        yield enter


@pytest.fixture
def fake(tmp_path):
    """Writes a program that is the fake engine with its failure, and says which are running."""

    class Fake:
        path = tmp_path / "program"

        def __call__(self, *failure, child=False, timeout=600, **settings):
            uci = Path(__file__).with_name("uci.py")
            # A child has the engine's input and output, and ignores the end of both.
            before = "(trap '' HUP INT TERM; sleep 1000) &" if child else ""
            # It starts sooner without `site`.
            packages = Path(chess.__file__).parents[1]
            program(
                tmp_path,
                f"export RUNGS_TEST={tmp_path} PYTHONPATH='{packages}'\n{before}\n"
                f"exec '{sys.executable}' -S '{uci}' {' '.join(failure)}",
            )
            # Patient, as a busy machine may take long to start it.
            return UciEngine(self.path, timeout=timeout, **settings)

        def wait_for(self, number):
            """Waits until `number` processes run."""
            mark = f"RUNGS_TEST={tmp_path}".encode()
            return poll(lambda: sum(marked(pid, mark) for pid in os.listdir("/proc")) == number)

        def all_gone(self):
            return self.wait_for(0)

    return Fake()


def marked(pid, mark):
    try:
        return mark in Path("/proc", pid, "environ").read_bytes()
    except OSError:  # gone meanwhile, or another user's
        return False


def lose_patience(env):
    """Waits no longer than a moment for replies of an engine that has been started."""
    process = env._game._engine
    process.engine = dataclasses.replace(process.engine, timeout=0.3)


def program(folder, text):
    path = folder / "program"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def first_actions(env):
    return [min(env.legal_moves(board).values()) for board in range(env.num_envs)]


def first_move(board):
    return min(move.uci() for move in board.legal_moves)


NAMES = {
    r"id name Odd 1\nid author F\267r": "Odd 1",
    r"id name  F\303\274r 2 \r": "Für 2",
    r"id name \377": "\ufffd",
}


@pytest.mark.parametrize(("line", "name"), NAMES.items())
def test_a_name_is_read_whatever_bytes_are_around_it(tmp_path, line, name):
    assert engine_name(program(tmp_path, f"printf '{line}\\n'")) == name


@pytest.mark.parametrize("text", ["exit", "printf 'id name \\n'", "sleep 600", "sleep 600 & exit"])
def test_a_program_without_a_name_is_an_error(tmp_path, monkeypatch, text):
    monkeypatch.setattr(engine, "_NAME_SECONDS", 1.0)
    with pytest.raises(EngineError, match="program"):
        engine_name(program(tmp_path, text))


def test_one_step_is_the_agents_ply_and_the_engines(fake, make):
    env = make("cpp", 3, opponent=fake())
    _, info = env.reset()
    # On board 1 the agent is Black, and the engine has opened.
    expected = [chess.Board(), chess.Board(), chess.Board()]
    expected[1].push_uci(first_move(expected[1]))
    assert env.fens() == [board.fen() for board in expected]
    assert info["player"].tolist() == [0, 1, 0]
    rng = np.random.default_rng(0)
    for _ in range(10):
        actions = random_actions(info["action_mask"], rng)
        for i, board in enumerate(expected):
            moves = {action: move for move, action in env.legal_moves(i).items()}
            board.push_uci(moves[actions[i]])
            board.push_uci(first_move(board))
        *_, info = env.step(actions)
        assert env.fens() == [board.fen() for board in expected]
    env.close()
    assert fake.all_gone()


def test_colours_change_with_every_episode(fake, make):
    async def cell():  # as in a notebook
        env = make("cpp", 2, opponent=fake(), max_plies=2)
        _, info = env.reset()
        for episode in range(4):
            assert info["player"].tolist() == [episode % 2, 1 - episode % 2]
            *_, truncated, info = env.step(first_actions(env))
            assert truncated.all()

    asyncio.run(cell())


def test_copies_are_replied_to_as_their_sources(fake, make):
    env = make("cpp", 2, opponent=fake(), max_plies=4)
    env.reset()

    def play():
        """Two steps, in which an episode ends on either board; whose turn it is in the next."""
        for _ in range(2):
            *_, truncated, info = env.step(first_actions(env))
        assert truncated.all()
        return info["player"].tolist()

    env.copy_boards([0], [1])
    snapshot = env.snapshot()
    assert play() == [1, 1]  # in episode 1 of board 0, twice
    assert len(set(env.fens())) == 1
    env.restore(snapshot, randomness="own")
    assert play() == [0, 1]  # in episodes 2 of boards 0 and 1


# Every rung, mode and kind of chess.
GAMES = [
    ("cpp", "SAME_STEP", None),
    ("cpp", "NEXT_STEP", "chess960"),
    ("cpp", "DISABLED", None),
    ("threads", "NEXT_STEP", None),
    ("openmp", "DISABLED", "chess960"),
    ("mpi", "SAME_STEP", "chess960"),
    ("multiprocessing", "SAME_STEP", None),
]


class Weak(UciEngine):
    """An engine of a user's class, with arguments of its own."""

    def __init__(self, path):
        super().__init__(path, timeout=600)


@pytest.mark.parametrize(("rung", "mode", "start"), GAMES)
def test_every_rung_plays_the_same_games(fake, make, rung, mode, start):
    settings = {"autoreset_mode": mode, "start": start, "opening_plies": (0, 4), "obs": "planes"}
    engines = {rung: fake(), "python": Weak(fake.path)}
    pair = [make(name, 4, opponent=engines[name], max_plies=16, **settings) for name in engines]
    reasons = lockstep.play(*pair, seed=1, steps=20, rollout=3)
    assert sum(reasons.values()) >= 8


def test_one_is_found_where_debian_puts_games(fake, make, monkeypatch):
    monkeypatch.setattr(programs, "_GAMES", str(Path(fake().path).parent))
    env = make("cpp", 2, opponent=UciEngine("program", timeout=600))
    assert env.settings.opponent.path == "program"  # as it was named, wherever it is
    env.reset()
    assert fake.wait_for(1)


def test_it_castles_as_in_chess960(fake, make):
    fen = "6k1/5p2/8/8/8/8/PP6/KR6 w B - 0 1"
    env = make("cpp", 2, opponent=fake(), start_fens=[fen])
    env.reset()
    boards = [chess.Board(fen, chess960=True) for _ in range(2)]
    boards[1].push_uci("a1b1")  # there the engine is White: castling is the first of its moves
    assert env.fens() == [board.fen() for board in boards]
    moves = ("a1b1", "f7f6")
    env.step([env.legal_moves(i)[move] for i, move in enumerate(moves)])
    for board, move in zip(boards, moves, strict=True):
        board.push_uci(move)
        board.push_uci(first_move(board))
    assert env.fens() == [board.fen() for board in boards]


MATES = [
    ("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1", "a1a8", 1),
    ("7k/8/8/8/8/r7/1r5P/7K w - - 0 1", "h2h3", -1),  # the engine's a3a1 mates
]


@pytest.mark.parametrize(("fen", "move", "expected"), MATES)
def test_the_agent_may_mate_or_be_mated(fake, make, fen, move, expected):
    env = make("cpp", 1, opponent=fake(), start_fens=[fen])
    env.reset()
    _, reward, terminated, _, _ = env.step([env.legal_moves(0)[move]])
    assert (reward[0], terminated[0]) == (expected, True)


FAILURES = ("crash", "illegal", "nonsense", "none", "null", "empty", "long")


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failing_engine_names_the_board_and_changes_nothing(fake, make, failure):
    env = make("cpp", 3, opponent=fake(failure, "7"), first_board=4)
    env.reset()  # board 5 is opened with move 1; moves 2 to 4 are replies
    env.step(first_actions(env))
    fens = env.fens()
    with unchanged(env, IllegalActionError, "board 6"):  # before the engine is asked
        env.step([*first_actions(env)[:2], 384])
    with unchanged(env, EngineError, str(fake.path)) as caught:
        env.step(first_actions(env))  # moves 5 to 7
    assert caught.value.board == 6
    assert len(str(caught.value)) < 1200
    assert fake.all_gone()
    # It is started again when needed, and the game goes on.
    env.step(first_actions(env))
    assert env.fens() != fens


def test_a_late_reply_is_not_waited_for(fake, make):
    env = make("cpp", 1, opponent=fake("hang", "2"))
    env.reset()
    env.step([524])  # e2e4
    lose_patience(env)
    with unchanged(env, EngineError, r"board 0.*0\.3 s"):
        env.step(first_actions(env))
    assert fake.all_gone()


@pytest.mark.parametrize("rung", ["cpp", "multiprocessing"])
def test_a_failure_to_open_changes_nothing(rung, fake, make):
    env = make(rung, 2, opponent=fake("crash", "4"), max_plies=2)
    env.reset()  # board 1: move 1
    with unchanged(env, EngineError, "board 0"):  # replies 2 and 3, then it opens on board 0
        env.step([524, 524])  # e2e4, and e7e5


CAN_NOT_BEGIN = [
    ("mute", {"timeout": 0.3}, {}, r"0\.3 s"),
    ("classical", {}, {"start": "chess960"}, "UCI_Chess960"),
    ("", {"options": {"Colour": "blue"}}, {}, "Colour"),
    ("", {"elo": 1000}, {}, "UCI_Elo"),
    ("crash 1", {}, {}, ""),
]


@pytest.mark.parametrize(("failure", "engine_settings", "settings", "named"), CAN_NOT_BEGIN)
def test_an_engine_that_can_not_begin_is_given_up_and_asked_again(
    fake, make, failure, engine_settings, settings, named
):
    env = make("cpp", 2, opponent=fake(failure, **engine_settings), **settings)
    with pytest.raises(EngineError, match=f"board 1.*{named}"):
        env.reset()
    assert fake.all_gone()
    if failure == "crash 1":
        fake()
        env.reset()


SCRIPT = """
import os, signal, sys, rungs
from rungs._src.chess.engine import UciEngine

if __name__ == "__main__":
    engine = UciEngine(sys.argv[1], timeout=600)
    workers = {"workers": 2, "transport": "shared"}
    env = rungs.make("chess", "multiprocessing", 4, opponent=engine, **workers)
    env.reset()
    print(*env.boards.pids, flush=True)
    if sys.argv[2] == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if sys.argv[2] == "raises":
        1 / 0
"""


@pytest.mark.system
@pytest.mark.parametrize("end", ["exits", "raises", "killed"])
def test_no_engine_or_worker_outlives_its_environment(fake, tmp_path, end):
    before, script = shared_things(), tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), fake(child=True).path, end]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == {"exits": 0, "raises": 1, "killed": -signal.SIGKILL}[end]
    pids = done.stdout.split()
    assert len(pids) == 2
    assert gone(pids)
    assert fake.all_gone()
    assert shared_things() <= before


# Settings, the search that is asked for, and options that are set.
COMMANDS = [
    ({}, "depth 1", ""),
    ({"depth": 3, "nodes": 500}, "depth 3 nodes 500", ""),
    ({"seconds": 0.02}, "movetime 20", ""),
    ({"elo": 1500}, "depth 1", "UCI_LimitStrength value true, UCI_Elo value 1500"),
    ({"skill": 0, "options": {"Hash": 1}}, "depth 1", "Skill Level value 0, Hash value 1"),
]


@pytest.mark.parametrize(("settings", "search", "options"), COMMANDS)
def test_it_searches_as_asked(fake, settings, search, options, caplog):
    with contextlib.closing(EngineProcess(fake(**settings))) as process:
        process.reply(chess.Board(), 0)
    *set_before, last = fake.path.with_name("heard").read_text().splitlines()
    assert last == f"go {search}"
    assert {f"setoption name {each}" for each in options.split(", ") if each} <= {*set_before}
    # As asyncio logs where the exit status of a process of its own was collected elsewhere.
    assert not caplog.records


def test_settings_that_can_not_be_are_refused(fake):
    for named, settings in (
        ("skill=3.*elo=1500", {"skill": 3, "elo": 1500}),
        ("skill level", {"skill": 3, "options": {"skill level": 2}}),
        ("UCI_Elo", {"elo": 1500, "options": {"UCI_Elo": 1600}}),
        ("seconds=10.0.*timeout=10.0", {"seconds": 10.0, "timeout": 10.0}),
        *(("skill=21", {"skill": 21}), ("nodes=0", {"nodes": 0})),
    ):
        with pytest.raises(ConfigurationError, match=named):
            fake(**settings)


@pytest.mark.needs("stockfish")
@pytest.mark.system
def test_stockfish_takes_its_settings():
    for settings in ({"seconds": 0.01}, {"elo": 1350, "nodes": 2000}, {"skill": 3}):
        engine = UciEngine(find_program("stockfish"), **settings)
        with contextlib.closing(EngineProcess(engine)) as process:
            assert process.reply(chess.Board(), 0) in chess.Board().legal_moves


@pytest.mark.parametrize("end", ["closed", "forgotten", "nonsense", "crash"])
def test_an_engine_and_its_children_end_together(fake, end):
    failure = () if end in ("closed", "forgotten") else (end, "2")
    env = rungs.make("chess", "cpp", 2, opponent=fake(*failure, child=True))
    env.reset()
    assert fake.wait_for(2)
    if end == "crash":  # which is seen only when it is late, as its child has its output
        lose_patience(env)
    if failure:
        with pytest.raises(EngineError):
            env.step([524, 524])  # e2e4, and e7e5
    if end == "closed":
        env.close()
    if end == "forgotten":
        del env
    assert fake.all_gone()
