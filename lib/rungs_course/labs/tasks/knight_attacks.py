"""Lab 03a: where knights attack, all of them at once."""

import functools
import operator

import chess
import numpy as np

from rungs_course.labs.arrays import compare_bitboards
from rungs_course.labs.harness import for_bitboards
from rungs_course.labs.lab import Lab
from rungs_course.labs.positions import diagram

_RNG = np.random.default_rng(3)
_SETS = np.concatenate(
    [
        np.uint64(1) << np.arange(64, dtype=np.uint64),
        _RNG.integers(0, 2**64, 1000, dtype=np.uint64) & _RNG.integers(0, 2**64, 1000, np.uint64),
    ]
)


def _judge(submission, _):
    squares = [list(chess.SquareSet(knights)) for knights in _SETS.tolist()]
    attacks = [[chess.BB_KNIGHT_ATTACKS[square] for square in knights] for knights in squares]
    yield compare_bitboards(
        submission.run,
        [_SETS],
        [functools.reduce(operator.or_, bitboards, 0) for bitboards in attacks],
        lambda i: diagram(dict.fromkeys(squares[i], "N")),
        lambda i: "the squares that these knights attack",
    )


LAB = Lab(
    "03a",
    ("knight_attacks",),
    _judge,
    target=0.8,
    cause="core bound",
    **for_bitboards(
        "knight_attacks",
        ("knights",),
        """
      knights[i] = r(0) & r(1);""",
    ),
)
