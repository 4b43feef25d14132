"""Differential play finds a fault and names it, and a run that was stopped goes on."""

import json
import re
from pathlib import Path

import chess
import pytest

from rungs._src.chess.reason import Reason
from rungs._src.machine.cpu import usable_cores
from tests.proof import differential
from tests.proof.differential import ORACLES, PythonChess, play_chunk, read_log, run, summary
from tests.tiers import system_tier

ROOT = Path(__file__).parents[2]
SMALL = {"python-chess": (PythonChess, 4, 15, 8 * 60)}


class NoEnPassant(PythonChess):
    """Knows no capture in passing."""

    def legal(self, board):
        return [
            action
            for action, move in differential.legal_actions(board).items()
            if not board.is_en_passant(move)
        ]


class NoMate(PythonChess):
    """Takes a mate for no end."""

    def push(self, board, action):
        end = super().push(board, action)
        return 0 if end == Reason.CHECKMATE else end


class OneTooMany(PythonChess):
    """Lists the king's step onto its own pawn, in every position after the first ply."""

    def legal(self, board):
        return [*super().legal(board), chess.E1] if board.ply() else super().legal(board)


# Others than python-chess need more C++ compiled, or a package.
@pytest.mark.parametrize(
    "name", ["python-chess", *system_tier(*sorted({*ORACLES} - {"python-chess"}))]
)
@pytest.mark.parametrize("seed", [0, 1])
def test_every_oracle_plays_the_same(name, seed):
    line = play_chunk(ORACLES[name][0], seed, 8, 40)
    assert (line["verdict"], line["plies"]) == ("same", 320)
    assert line["digest"] == play_chunk(PythonChess, seed, 8, 40)["digest"]


def first_difference(oracle):
    """Returns the line of the first chunk from published positions that differs, and its board."""
    lines = (play_chunk(oracle, seed, 32, 60) for seed in range(1, 20, 2))
    line = next(line for line in lines if line["verdict"] == "differs")
    board = chess.Board(line["fen"])
    for move in line["moves"].split():
        board.push_uci(move)
    return line, board


def test_a_fault_is_found_and_named_with_its_seed_and_ply():
    line, board = first_difference(NoEnPassant)
    assert board.fen() == line["position"]
    assert len(board.move_stack) == line["ply"]
    assert line["oracle_only"] == []
    for move in line["rung_only"]:
        assert board.is_en_passant(board.parse_uci(move))
    again = play_chunk(NoEnPassant, line["seed"], 32, 60)
    assert again | {"seconds": 0} == line | {"seconds": 0}


def test_a_move_too_many_and_a_wrong_end_are_faults_too():
    line = play_chunk(OneTooMany, 0, 4, 5)
    assert (line["step"], line["ply"], line["oracle_only"]) == (0, 1, ["e8e7"])
    line, board = first_difference(NoMate)
    assert (line["rung"], line["oracle"]) == ("checkmate", 0)
    assert board.is_checkmate()


def seeds(lines):
    return sorted(line["seed"] for line in lines)


def test_a_torn_line_is_played_again(tmp_path):
    log = tmp_path / "log"
    whole = run(log, ["python-chess"], oracles=SMALL)
    assert seeds(whole) == list(range(8))
    assert re.findall(r"\d+", summary(whole))[:3] == ["480", "8", "0"]
    kept = log.read_text().splitlines(keepends=True)
    log.write_text("".join(kept[:5]) + kept[5][:40])
    assert len(read_log(log)) == 5
    assert log.read_text() == "".join(kept[:5])
    again = run(log, ["python-chess"], oracles=SMALL)
    assert log.read_text().startswith("".join(kept[:5]))
    digests = [{line["seed"]: line["digest"] for line in lines} for lines in (whole, again)]
    assert digests[0] == digests[1]
    log.write_text("no json\n" + kept[0])
    with pytest.raises(ValueError, match="value"):
        read_log(log)


def test_lines_of_other_sources_do_not_count(tmp_path):
    log = tmp_path / "log"
    (line, _) = run(log, ["python-chess"], plies=120, oracles=SMALL)
    log.write_text(json.dumps(line | {"source": "another"}) + "\n")
    assert seeds(run(log, ["python-chess"], plies=120, oracles=SMALL)) == [0, 1]
    assert len(read_log(log)) == 3


def assert_whole_and_the_same(lines):
    assert [line for line in lines if line["verdict"] != "same"] == []
    for name, (_, _, _, plies) in ORACLES.items():
        assert sum(line["plies"] for line in lines if line["name"] == name) >= plies


def test_the_recorded_run_is_whole_and_of_one_machine_and_one_source():
    lines = read_log(ROOT / "data" / "recorded" / "differential.jsonl")
    assert_whole_and_the_same(lines)
    assert len({(line["source"], line["machine"]) for line in lines}) == 1
    assert len({(line["name"], line["seed"]) for line in lines}) == len(lines)
    # Chunks of one size and seed are the same games, whichever oracle plays them.
    digests = {}
    for line in lines:
        digests.setdefault((line["plies"], line["seed"]), set()).add(line["digest"])
    assert {len(each) for each in digests.values()} == {1}


@pytest.mark.slow
def test_a_billion_plies_are_the_same():
    """Keeps its log, so that a run that was stopped goes on: see `make proof`."""
    log = ROOT / "build" / "differential.jsonl"
    log.parent.mkdir(exist_ok=True)
    lines = run(log, list(ORACLES), processes=usable_cores())
    assert_whole_and_the_same(lines)
