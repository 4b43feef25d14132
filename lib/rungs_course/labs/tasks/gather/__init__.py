"""Lab 05: what all ranks have comes together at rank 0, in few messages."""

from pathlib import Path

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
    title="a gather in fewer messages",
    notebook="05_mpi",
    minutes=40,
    goal="""Every rank has stepped its 16 boards, and rank 0 wants all of them. Every rank calls
`gather(comm, block)`; `block` has the arrays "observation" (16, 72) int8, "mask" (16, 4672) bool,
"reward" (16,) float32, "terminated" and "truncated" (16,) bool. Rank 0 returns the same arrays of
all boards, rank 0's first, then rank 1's and so on; what others return does not matter. There are
`comm.rank`, `comm.size`, `comm.send(to, array)` and `comm.recv(source)`. The ranks are simulated:
sending is free, but receiving takes 20 µs a message and 1 µs per 1000 bytes. The cost is the time
at which rank 0 of 16 has everything: send fewer messages, fewer bytes, and let not only rank 0
receive.""",
    defines=("gather",),
    hints=(
        "One message a rank, not five: `array.view(np.uint8)` shows any array's bytes, and arrays "
        "of bytes can be joined by `np.concatenate` and cut apart again. A bool needs a bit: "
        "`np.packbits`.",
        "A tree: in round 1 every odd rank sends to the one before, in round 2 every second of "
        "those that are left sends all that it has two ranks back, then four, then eight. Rank 0 "
        "receives four times, not fifteen. It need not be a power of two: who is not there sends "
        "nothing.",
    ),
    judge=_judge,
    work=_work,
    target=0.8,
    folder=Path(__file__).parent,
    language="python",
    unit="simulated µs",
)
