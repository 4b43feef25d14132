"""Two clients understand the engine, and it ends with its controller."""

import random
import re
import subprocess
import sys

import chess
import chess.engine
import pytest

from rungs._src.programs import find_program
from rungs._src.selfplay import agent
from rungs._src.selfplay.recorded import load_agent
from rungs_course.paths import ROOT
from tests.processes import succeed

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("agent") / "untrained"
    agent.save(agent.untrained(), path)
    return path


@pytest.mark.parametrize("board", [chess.Board(), chess.Board.from_chess960_pos(1)])
def test_pythons_client_reads_reports_and_lines(path, board):
    command = [sys.executable, "-m", "rungs", "uci", str(path)]
    with chess.engine.SimpleEngine.popen_uci(command, timeout=120) as engine:
        engine.configure({"UCI_ShowWDL": True})
        lines = engine.analyse(board, chess.engine.Limit(nodes=200), multipv=3)
    assert [line["multipv"] for line in lines] == [1, 2, 3]
    for line in lines:
        assert line["nodes"] == 200
        assert line["seldepth"] >= line["depth"] == len(line["pv"])
        assert sum(line["wdl"].pov(board.turn)) == 1000
        assert line["score"].pov(board.turn).score() is not None
        after = board.copy()
        for move in line["pv"]:  # each is legal
            after.push_uci(move.uci())


@pytest.mark.needs("polyglot")
def test_another_client_understands_what_it_says(path, tmp_path):
    """Polyglot, in C, plays it for a program with xboard's protocol, and logs all it reads."""
    log, rng, board, scores = tmp_path / "log", random.Random(0), chess.Board(), set()
    command = [find_program("polyglot"), "-noini", "-log", "true", "-lf", str(log)]
    command += ["-uci", "Simulations=20", "-ec", f"{sys.executable} -m rungs uci {path}"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
    with subprocess.Popen(command, **pipes) as polyglot:
        polyglot.stdin.write("xboard\nprotover 2\nnew\npost\nst 1\ngo\n")
        for _ in range(20):
            report = ""
            while not (line := polyglot.stdout.readline()).startswith("move "):
                report = line or pytest.fail(log.read_text())
            depth, score, _, nodes, *pv = report.split()
            assert len(pv) == int(depth)
            assert 1 <= int(nodes) <= 20
            assert board.parse_san(pv[0]).uci() == line.split()[1]
            scores.add(int(score))
            board.push_san(pv[0])
            board.push(rng.choice([*board.legal_moves]))
            polyglot.stdin.write(f"usermove {board.peek()}\n")
        polyglot.stdin.write("quit\n")
    assert len(scores) > 1
    assert not re.search("unknown|illegal", log.read_text(), re.IGNORECASE)


def test_a_recorded_agent_needs_no_file(tmp_path):
    name = load_agent(ROOT / "data" / "agents" / "0").name
    for arguments, expected in (([], load_agent().name), ([name], name)):
        command = [sys.executable, "-m", "rungs", "uci", *arguments]
        told = succeed(command, cwd=tmp_path, input="go nodes 2\n")
        assert f"info string {expected}, computed by" in told
        assert "bestmove" in told


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
    for name, listed in (("it.pt", ""), ("none.pt", load_agent().name)):
        command = [sys.executable, "-m", "rungs", "uci", str(tmp_path / name)]
        done = subprocess.run(command, input="isready\n", capture_output=True, text=True)
        assert done.returncode == 2
        assert name in done.stderr
        assert listed in done.stderr
        assert "readyok" not in done.stdout
