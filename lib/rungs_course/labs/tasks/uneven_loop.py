"""Lab 04a: a loop over boards whose games differ in length, on all threads."""

import numpy as np

from rungs.machine import usable_cores
from rungs_course.labs.arrays import compare, fixed
from rungs_course.labs.inside.guards import guarded, guarded_empty
from rungs_course.labs.lab import Call, Difference, Lab

# The last quarter of the boards plays games that are a hundred times as long as the others'. In a
# race a call takes milliseconds: more than it costs to wait for a thread whose core is not free.
_BOARDS, _SHORT, _LONGER, _RACED = 509, 10, 100, 100
_TEAMS = (1, 2, 3)
_MANY, _TRIES = 1_000_003, 4


def _cases(times: int = 1, seed: int = 7) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    boards = rng.integers(0, 2**64, _BOARDS, dtype=np.uint64)
    late = np.arange(_BOARDS) >= _BOARDS * 3 // 4
    plies = times * rng.integers(1, np.where(late, _LONGER * _SHORT, _SHORT))
    return boards, plies.astype(np.int32)


def _even() -> tuple[np.ndarray, np.ndarray]:
    """Returns very many boards with short games.

    Threads that add to one sum then collide all the time, if they run at the same time: on a single
    core no addition is lost, and no error can be seen.
    """
    rng = np.random.default_rng(16)
    boards = rng.integers(0, 2**64, _MANY, dtype=np.uint64)
    return boards, rng.integers(1, 4, _MANY).astype(np.int32)


def _judge(submission, baseline):
    for (boards, plies), tries in ((_cases(), 1), (_even(), _TRIES)):
        count = len(boards)
        expected = np.empty_like(boards)
        won = baseline.run(boards, plies, expected, count, 1)
        for threads in _TEAMS * tries:
            ends = guarded_empty(expected.shape, np.uint64)
            counted = submission.run(guarded(boards), guarded(plies), ends, count, threads)
            team = f"played by {threads} thread{'s' * (threads > 1)}"
            yield compare(
                ends,
                expected,
                lambda i, count=count, team=team: f"the end of board {i} of {count}, {team}",
                exact=True,
            )
            if counted != won:
                output = f"how many of {count} games are won, {team}"
                yield Difference(output, str(won), str(counted))


def _race(rng):
    boards, plies = _cases(_RACED, int(rng.integers(1 << 31)))
    ends = np.zeros_like(boards)
    args = fixed(boards, np.uint64), fixed(plies, np.int32), ends, len(boards), usable_cores()
    return [Call("run", args)]


LAB = Lab(
    "04a",
    ("play_all",),
    _judge,
    target=0.8,
    cause="sharing",
    harness="""
std::int64_t run(const std::uint64_t* boards, const std::int32_t* plies, std::uint64_t* ends,
                 std::int64_t count, std::int32_t threads) {
  return play_all(boards, plies, ends, count, threads);
}
""",
    alone=True,
    race=_race,
)
