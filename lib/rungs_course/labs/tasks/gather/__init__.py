"""Lab 05: what all ranks have comes together at rank 0, in few messages."""

import numpy as np

from rungs.chess import NUM_ACTIONS
from rungs_course.labs.lab import Difference, Lab
from rungs_course.labs.tasks.gather.ranks import on_ranks

_BOARDS = 16  # of each rank
_RANKS = 16  # where time counts
_SIZES = (1, 2, 3, 8, 13, _RANKS)


def _blocks(ranks: int) -> list[dict[str, np.ndarray]]:
    """Returns each rank's outputs: made up at random, so that nothing can be squeezed."""
    rng = np.random.default_rng(ranks)
    return [
        {
            "observation": rng.integers(-128, 128, (_BOARDS, 72), np.int8),
            "mask": rng.random((_BOARDS, NUM_ACTIONS)) < 0.5,
            "reward": rng.standard_normal(_BOARDS).astype(np.float32),
            "terminated": rng.random(_BOARDS) < 0.5,
            "truncated": rng.random(_BOARDS) < 0.5,
        }
        for _ in range(ranks)
    ]


def _judge(functions):
    for ranks in _SIZES:
        blocks = _blocks(ranks)
        answers, _ = on_ranks(functions.gather, blocks)
        found = answers[0]
        if not isinstance(found, dict):
            what = f"what rank 0 of {ranks} returns"
            return Difference(what, "a dictionary of arrays", type(found).__name__)
        for name in blocks[0]:
            what = f"{name} of {ranks} rank{'s' * (ranks > 1)}"
            expected = np.concatenate([block[name] for block in blocks])
            difference = _differs(what, expected, found.get(name))
            if difference:
                return difference
    return None


def _differs(what: str, expected: np.ndarray, found) -> Difference | None:
    if not isinstance(found, np.ndarray):
        return Difference(what, "an array", type(found).__name__)
    if (found.shape, found.dtype) != (expected.shape, expected.dtype):
        should, got = (f"{array.shape} of {array.dtype}" for array in (expected, found))
        return Difference(what, should, got)
    if np.array_equal(found, expected):
        return None
    place = tuple(int(i) for i in np.argwhere(found != expected)[0])
    rank, board = divmod(place[0], _BOARDS)
    words = f"{what}, row {place[0]} (rank {rank}'s board {board})"
    if len(place) > 1:
        words += f", number {place[1]}"
    return Difference(words, str(expected[place]), str(found[place]))


def _work(functions):
    return lambda: on_ranks(functions.gather, _blocks(_RANKS))[1]


LAB = Lab(
    name="05",
    defines=("gather",),
    judge=_judge,
    work=_work,
    target=0.8,
    language="python",
    unit="simulated µs",
)
