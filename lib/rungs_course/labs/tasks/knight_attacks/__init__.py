"""Lab 03a: where knights attack, all of them at once."""

import chess
import numpy as np

from rungs_course.labs import attacks
from rungs_course.labs.lab import Lab, timed

_RNG = np.random.default_rng(3)
_SETS = np.concatenate(
    [
        np.uint64(1) << np.arange(64, dtype=np.uint64),
        _RNG.integers(0, 2**64, 1000, dtype=np.uint64) & _RNG.integers(0, 2**64, 1000, np.uint64),
    ]
)


def _expected(knights: int) -> int:
    attacked = 0
    for square in chess.SquareSet(knights):
        attacked |= chess.BB_KNIGHT_ATTACKS[square]
    return attacked


def _judge(functions):
    expected = np.array([_expected(int(knights)) for knights in _SETS], np.uint64)
    return attacks.first_difference(
        functions.run,
        [_SETS],
        expected,
        lambda i: attacks.diagram({s: "N" for s in chess.SquareSet(int(_SETS[i]))}),
        lambda i: "the squares that these knights attack",
    )


def _work(functions):
    return timed(attacks.work(functions.run, [_SETS], len(_SETS)))


LAB = Lab(
    name="03a",
    defines=("knight_attacks",),
    judge=_judge,
    work=_work,
    target=0.8,
    harness="""
void run(const std::uint64_t* knights, std::uint64_t* out, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = knight_attacks(knights[i]);
}
""",
)
