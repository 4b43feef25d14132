"""Lab 04a: a loop over boards whose games differ in length, on all threads."""

import numpy as np

from rungs.machine import usable_cores
from rungs_course.labs.arrays import guarded, guarded_empty
from rungs_course.labs.lab import Difference, Lab, timed

# The last quarter of the boards plays games that are a hundred times as long as the others'. In a
# race a call takes milliseconds: more than it costs to wait for a thread whose core is not free.
_BOARDS, _SHORT, _LONGER, _RACED = 509, 10, 100, 100
_TEAMS = (1, 2, 3)
_MANY, _TRIES = 1_000_003, 4


def _cases(times: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    boards = rng.integers(0, 2**64, _BOARDS, dtype=np.uint64)
    late = np.arange(_BOARDS) >= _BOARDS * 3 // 4
    plies = times * rng.integers(1, np.where(late, _LONGER * _SHORT, _SHORT))
    return boards, plies.astype(np.int32)


def _even() -> tuple[np.ndarray, np.ndarray]:
    """Returns very many boards with short games.

    Threads that add to one sum then meet all the time, if they run at the same time: on a single
    core nothing is lost, and nothing can be seen.
    """
    rng = np.random.default_rng(16)
    boards = rng.integers(0, 2**64, _MANY, dtype=np.uint64)
    return boards, rng.integers(1, 4, _MANY).astype(np.int32)


def _expected(boards: np.ndarray, plies: np.ndarray) -> np.ndarray:
    """Plays all boards side by side, by another program than C++."""
    ends, factor = boards.copy(), np.uint64(0x9E3779B97F4A7C15)
    for ply in range(int(plies.max())):
        playing = plies > ply
        now = ends[playing]
        ends[playing] = (now ^ now >> np.uint64(29)) * factor
    return ends


def _judge(functions):
    uneven, even = _cases(), _even()
    for (boards, plies), tries in ((uneven, 1), (even, _TRIES)):
        expected = _expected(boards, plies)
        for threads in _TEAMS * tries:
            difference = _differs(functions, boards, plies, expected, threads)
            if difference:
                return difference
    return None


def _differs(functions, boards, plies, expected, threads: int) -> Difference | None:
    ends = guarded_empty(expected.shape, np.uint64)
    counted = functions.run(guarded(boards), guarded(plies), ends, len(boards), threads)
    wrong = np.flatnonzero(ends != expected)
    team = f"{threads} thread{'s' * (threads > 1)}"
    if wrong.size:
        i = int(wrong[0])
        what = f"the end of board {i} of {len(boards)}, played by {team}"
        return Difference(what, f"{int(expected[i]):#x}", f"{int(ends[i]):#x}")
    won = int((expected >> np.uint64(63)).sum())
    if counted != won:
        what = f"how many of {len(boards)} games are won, played by {team}"
        return Difference(what, str(won), str(counted))
    return None


def _work(functions):
    boards, plies = _cases(_RACED)
    ends, threads = np.empty_like(boards), usable_cores()
    return timed(lambda: functions.run(boards, plies, ends, len(boards), threads))


LAB = Lab(
    name="04a",
    defines=("play_all",),
    judge=_judge,
    work=_work,
    target=0.8,
    harness="""
std::int64_t run(const std::uint64_t* boards, const std::int32_t* plies, std::uint64_t* ends,
                 std::int64_t count, std::int32_t threads) {
  return play_all(boards, plies, ends, count, threads);
}
""",
    alone=True,
)
