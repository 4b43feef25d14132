"""python-chess's client understands the engine, and its games are legal and in time."""

import subprocess
import sys

import chess
import chess.engine
import pytest

from rungs._src.chess.engine import EngineProcess, UciEngine
from rungs._src.selfplay import agent
from tests.proof.uci_games import engine, opening, play

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("agent") / "untrained.pt"
    agent.save(agent.untrained(), path)
    return path


@pytest.fixture(scope="module")
def engines(path):
    with engine(path) as first, engine(path) as second:
        yield first, second


def test_games_with_little_time_are_legal_and_none_is_lost_on_time(engines):
    for seed in range(2):
        game = play(engines, opening(seed), seconds=1, increment=0.01)
        assert game.reason != "time"
        assert min(game.white_least, game.black_least) > 0


def test_pythons_client_reads_reports_and_lines(engines):
    board = opening(3)
    engines[0].configure({"UCI_ShowWDL": True})
    lines = engines[0].analyse(board, chess.engine.Limit(nodes=200), multipv=3)
    assert [line["multipv"] for line in lines] == [1, 2, 3]
    for line in lines:
        assert line["nodes"] == 200
        assert line["seldepth"] >= line["depth"] == len(line["pv"])
        assert sum(line["wdl"].pov(board.turn)) == 1000
        assert line["score"].pov(board.turn).score() is not None
        after = board.copy()
        for move in line["pv"]:  # each is legal
            after.push_uci(move.uci())


def test_chess960_is_played(engines):
    board = chess.Board.from_chess960_pos(1)
    game = play(engines, board, seconds=1, increment=0.01)
    assert game.reason != "time"


def test_our_client_plays_it(path, tmp_path):
    program = tmp_path / "engine"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m rungs uci "{path}"\n')
    program.chmod(0o755)
    process = EngineProcess(UciEngine(str(program), nodes=20, timeout=120, options={"Seed": 3}))
    try:
        assert process.reply(chess.Board(), 0) in chess.Board().legal_moves
    finally:
        process.close()


def test_it_ends_with_its_controller(path):
    command = [sys.executable, "-m", "rungs", "uci", str(path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:
        process.stdin.write(b"go infinite\n")
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()  # and then its lines end, too
        process.stdin.close()
        assert process.wait(120) == 1
        assert len(process.stderr.read().splitlines()) == 1


def test_a_wrong_agent_is_named_before_anything_is_answered(tmp_path):
    (tmp_path / "it.pt").write_bytes(b"nothing")
    for name in ("it.pt", "none.pt"):
        command = [sys.executable, "-m", "rungs", "uci", str(tmp_path / name)]
        done = subprocess.run(command, input="isready\n", capture_output=True, text=True)
        assert done.returncode == 2
        assert name in done.stderr
        assert "readyok" not in done.stdout
