"""Judges functions from bitboards to bitboards, by squares and with a board to look at."""

from collections.abc import Callable, Sequence

import chess
import numpy as np

from rungs_course.labs.arrays import guarded, guarded_empty
from rungs_course.labs.lab import Difference


def first_difference(
    run: Callable,
    inputs: Sequence[np.ndarray],
    expected: np.ndarray,
    fen: Callable[[int], str],
    what: Callable[[int], str],
) -> Difference | None:
    """Compares a function's bitboards with what they should be.

    Args:
        run: `run(*inputs, out, count)` writes `count` uint64 from arrays of uint64.
        expected: (count,) uint64.
        fen: a position that shows case `i`.
        what: what case `i` is about, in words.
    """
    out = guarded_empty(expected.shape, np.uint64)
    run(*map(guarded, inputs), out, len(expected))
    wrong = np.flatnonzero(out != expected)
    if not wrong.size:
        return None
    i = int(wrong[0])
    got, should = int(out[i]), int(expected[i])
    return Difference(
        what(i),
        _squares(should),
        _squares(got),
        fen(i),
        tuple(chess.SquareSet(got & ~should)),
        tuple(chess.SquareSet(should & ~got)),
    )


def _squares(bits: int) -> str:
    names = [chess.SQUARE_NAMES[square] for square in chess.SquareSet(bits)]
    return ", ".join(names) or "no square"


def work(run: Callable, inputs: Sequence[np.ndarray], count: int) -> Callable[[], object]:
    """Returns a call that has all of `inputs` answered."""
    out = np.empty(count, np.uint64)
    return lambda: run(*inputs, out, count)


def diagram(pieces: dict[int, str]) -> str:
    """Returns a FEN with pieces on squares: {0: "N"} is a white knight on a1."""
    board = chess.Board(None)
    for square, symbol in pieces.items():
        board.set_piece_at(square, chess.Piece.from_symbol(symbol))
    return board.fen()
