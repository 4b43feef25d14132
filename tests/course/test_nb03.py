"""Notebook 03: move generators, and bitboards as the rules have them."""

import shlex
import sys

import chess
import pytest

from rungs._src.chess.perft import perft_cpp
from rungs.errors import ConfigurationError, EngineError, MismatchError, UnavailableError
from rungs_course.notebooks import nb03_bitboards, nb03_perft


def test_one_that_miscounts_is_named():
    counters = {"ours": perft_cpp, "liar": lambda fen, depth: 1}
    with pytest.raises(MismatchError, match="liar"):
        nb03_perft.perft_race(counters, {"start": 2}, repeats=1)


class TestPrograms:
    """A program that others' users name, here of a few lines of Python."""

    @staticmethod
    def answering(expression):
        code = f"import sys\nfor line in sys.stdin: print({expression}, flush=True)"
        return [sys.executable, "-c", code]

    def test_one_that_is_named_takes_part(self, monkeypatch):
        command = self.answering("{'3': 8902, '2': 2039}[line.split()[0]]")
        monkeypatch.setenv("RUNGS_PERFT", f"some one={shlex.join(command)}; other=a b")
        programs = nb03_perft.perft_programs()
        assert programs == {"some one": command, "other": ["a", "b"]}
        depths = {"start": 3, "Kiwipete": 2}
        with nb03_perft.perft_program(command) as count:
            times = nb03_perft.perft_race({"ours": perft_cpp, "some one": count}, depths, repeats=2)
        assert times.groupby(["racer", "position"]).size().tolist() == [2] * 4

    def test_an_entry_of_another_form_is_refused_and_none_is_none(self, monkeypatch):
        monkeypatch.delenv("RUNGS_PERFT", raising=False)
        assert nb03_perft.perft_programs() == {}
        monkeypatch.setenv("RUNGS_PERFT", "a=b c; =d")
        with pytest.raises(ConfigurationError, match="'=d'"):
            nb03_perft.perft_programs()

    @pytest.mark.parametrize(
        ("command", "error"),
        [
            (["/missing/program"], UnavailableError),
            (["true"], EngineError),
            (answering("'\\N{SUPERSCRIPT TWO}'"), EngineError),
            (["sh", "-c", r"read line; printf '\337\n'"], EngineError),
        ],
    )
    def test_one_that_is_not_there_stops_or_answers_nonsense_is_named(self, command, error):
        with pytest.raises(error, match=command[0]), nb03_perft.perft_program(command) as count:
            count(chess.STARTING_FEN, 1)


def test_a_fill_ends_where_the_piece_is_stopped():
    board = chess.Board("7k/8/8/8/3p4/8/8/R2Q3K w - - 0 1")
    reached = {1: "b1 a2", 3: "b1 c1 a2 a3 a4", 7: "b1 c1 a2 a3 a4 a5 a6 a7 a8"}
    for steps, squares in reached.items():
        expected = set(map(chess.parse_square, squares.split()))
        assert set(nb03_bitboards.filled(board, chess.A1, steps)) == expected


def test_only_pieces_that_shield_their_king_are_pinned():
    board = chess.Board("4r1k1/8/8/8/7b/8/4NP2/4K3 w - - 0 1")
    assert nb03_bitboards.pinned(board) == [chess.E2, chess.F2]
