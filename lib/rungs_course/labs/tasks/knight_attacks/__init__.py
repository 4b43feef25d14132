"""Lab 03a: where knights attack, all of them at once."""

from pathlib import Path

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
    title="knights by shifts",
    notebook="03_cpp",
    minutes=15,
    goal="""A bitboard is 64 bits, one a square: a1 is bit 0, b1 bit 1, a2 bit 8, h8 bit 63. Write a
function that is given the squares of any number of knights and returns all squares that they
attack. The stub has one jump of eight, and the baseline loops over knights and jumps. Shift whole
boards instead: a knight's eight jumps are eight shifts, and what leaves the board at one side must
not come back at the other.""",
    defines=("knight_attacks",),
    hints=(
        "A jump two up and one right is `<< 17`: two ranks are 16, a file is 1. From the h file "
        "it lands on the a file, a rank higher than it should be.",
        "Mask what was shifted: after a step to the right, file a (`0x0101010101010101`) can't be "
        "reached; after two steps, neither a nor b can. The same from the other side.",
    ),
    judge=_judge,
    work=_work,
    target=0.8,
    folder=Path(__file__).parent,
    harness="""
void run(const std::uint64_t* knights, std::uint64_t* out, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = knight_attacks(knights[i]);
}
""",
)
