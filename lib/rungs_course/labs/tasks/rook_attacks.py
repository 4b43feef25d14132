"""Lab 03b: where rooks see, by doubling."""

import chess
import numpy as np

from rungs_course.labs.arrays import compare_bitboards
from rungs_course.labs.harness import for_bitboards
from rungs_course.labs.lab import Lab
from rungs_course.labs.positions import diagram


def _cases() -> tuple[np.ndarray, np.ndarray]:
    """Returns rooks and all pieces: a rook on each square of an empty board, then at random."""
    rng = np.random.default_rng(4)
    alone = np.uint64(1) << np.arange(64, dtype=np.uint64)
    few = [rng.integers(0, 2**64, 2000, dtype=np.uint64) for _ in range(5)]
    rooks = few[0] & few[1] & few[2] & few[3]
    pieces = rooks | few[1] & few[2] & few[4]
    return np.concatenate([alone, rooks]), np.concatenate([alone, pieces])


_ROOKS, _PIECES = _cases()


def _expected(board: chess.Board) -> int:
    attacked = chess.SquareSet()
    for square in board.pieces(chess.ROOK, chess.WHITE):
        attacked |= board.attacks(square)
    return int(attacked)


def _judge(submission, _):
    fens = []
    for rooks, pieces in zip(_ROOKS.tolist(), _PIECES.tolist(), strict=True):
        others = dict.fromkeys(chess.SquareSet(pieces), "p")
        fens.append(diagram(others | dict.fromkeys(chess.SquareSet(rooks), "R")))
    yield compare_bitboards(
        submission.run,
        [_ROOKS, _PIECES],
        [_expected(chess.Board(fen)) for fen in fens],
        fens.__getitem__,
        lambda i: "the squares that these rooks attack",
    )


LAB = Lab(
    "03b",
    ("rook_attacks",),
    _judge,
    target=0.7,
    cause="core bound",
    **for_bitboards(
        "rook_attacks",
        (
            "rooks",
            "pieces",
        ),
        """
      const std::uint64_t some = r(0) & r(1);
      rooks[i] = some & r(2) & r(3);
      pieces[i] = rooks[i] | some & r(4);""",
    ),
)
