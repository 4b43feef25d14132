"""Notebook 03: move generators, and bitboards as the rules have them."""

import shlex
import sys

import chess
import pytest

from rungs._src.chess.engine import find_program
from rungs._src.chess.perft import perft_cpp, perft_python
from rungs.errors import ConfigurationError, EngineError, MismatchError, UnavailableError
from rungs_course import nb03_bitboards
from rungs_course.nb03_perft import (
    perft_program,
    perft_programs,
    perft_race,
    stockfish,
)

DEPTHS = {"start": 3, "Kiwipete": 2}


def test_all_count_the_same_and_are_timed():
    frame = perft_race({"ours": perft_cpp, "python": perft_python}, DEPTHS, repeats=2)
    assert len(frame) == 2 * 2 * 2
    assert set(frame.query("position == 'start'")["leaves"]) == {8902}
    assert set(frame.query("position == 'Kiwipete'")["leaves"]) == {2039}
    assert (frame["seconds"] > 0).all()


def test_one_that_miscounts_is_named():
    with pytest.raises(MismatchError, match="liar"):
        perft_race({"ours": perft_cpp, "liar": lambda fen, depth: 1}, DEPTHS, repeats=1)


@pytest.mark.skipif(not find_program("stockfish"), reason="stockfish is not installed")
def test_stockfish_counts_too():
    program = find_program("stockfish")
    with stockfish(program) as count:
        perft_race({"ours": perft_cpp, "Stockfish": count}, DEPTHS, repeats=1)


def test_a_program_that_stops_is_an_error():
    with pytest.raises(EngineError, match="true stopped"), stockfish("true"):
        pass


class TestPrograms:
    """A program that others' users name, here of a few lines of Python."""

    LEAVES = "import sys\nfor line in sys.stdin: print({answer}, flush=True)"

    def test_one_that_is_named_takes_part(self, monkeypatch):
        code = self.LEAVES.format(answer="{'3': 8902, '2': 2039}[line.split()[0]]")
        monkeypatch.setenv("RUNGS_PERFT", f"some one={sys.executable} -c {shlex.quote(code)}")
        ((name, command),) = perft_programs().items()
        with perft_program(command) as count:
            frame = perft_race({"ours": perft_cpp, name: count}, DEPTHS, repeats=2)
        assert set(frame["racer"]) == {"ours", "some one"}

    def test_its_form_is_checked_and_none_is_none(self, monkeypatch):
        monkeypatch.delenv("RUNGS_PERFT", raising=False)
        assert perft_programs() == {}
        monkeypatch.setenv("RUNGS_PERFT", "a=b c; =d")
        with pytest.raises(ConfigurationError, match="RUNGS_PERFT: '=d' is not NAME=COMMAND"):
            perft_programs()

    def test_one_that_is_not_there_or_answers_nonsense_is_named(self, tmp_path):
        missing = [str(tmp_path / "missing")]
        with (
            pytest.raises(UnavailableError, match="missing can't be run"),
            perft_program(missing),
        ):
            pass
        nonsense = [sys.executable, "-c", self.LEAVES.format(answer="'20 leaves'")]
        with (
            pytest.raises(EngineError, match="answered '20 leaves'"),
            perft_program(nonsense) as count,
        ):
            count(chess.STARTING_FEN, 1)


def test_the_game_ends_in_mate():
    board = nb03_bitboards.after(33)
    assert board.is_checkmate()
    assert board.turn  # who moves is drawn as White


def test_a_fill_ends_where_the_piece_is_stopped():
    board = chess.Board("7k/8/8/8/3p4/8/8/R2Q3K w - - 0 1")
    found = [nb03_bitboards.filled(board, chess.A1, distance) for distance in (1, 3, 7)]
    steps = [
        {chess.B1, chess.A2},
        {chess.C1, chess.A3, chess.A4},
        {chess.square(0, rank) for rank in (4, 5, 6, 7)},
    ]
    assert list(map(set, found)) == [steps[0], steps[0] | steps[1], set.union(*steps)]


def test_only_pieces_that_shield_their_king_are_pinned():
    board = chess.Board("4r1k1/8/8/8/7b/8/4NP2/4K3 w - - 0 1")
    assert nb03_bitboards.pinned(board) == [chess.E2, chess.F2]


def test_the_widget_offers_the_pieces_of_who_moves_and_draws_one():
    widget = nb03_bitboards.explore_bitboards(24)
    assert widget.children[1].value is not None  # a piece, and so a picture, from the start
    plies, piece, _ = widget.children
    assert len(piece.options) == chess.popcount(nb03_bitboards.after(24).occupied_co[chess.WHITE])
    plies.value = 0
    assert {name[0] for name, _ in piece.options} == set("PRNBQK")
