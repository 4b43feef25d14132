"""Lab 04c: a team of threads that meets once a ply, not twice."""

import numpy as np

from rungs.machine import usable_cores
from rungs_course.labs.arrays import compare
from rungs_course.labs.harness import for_case
from rungs_course.labs.inside.guards import guarded_empty
from rungs_course.labs.lab import Lab, Unit

_BOARDS, _PLIES = 64, 4000
_TEAMS = (1, 2, 3)
_SHAPES = ((2, 3), (5, 2), (64, 200))


def _play(boards: np.ndarray, plies: int) -> np.ndarray:
    with np.errstate(over="ignore"):
        for _ in range(plies):
            boards = (boards ^ boards.sum(dtype=np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
            boards = boards ^ boards >> np.uint64(29)
    return boards


def _judge(submission, _):
    rng = np.random.default_rng(27)
    for threads in _TEAMS:
        for count, plies in _SHAPES:
            boards = guarded_empty(count, np.uint64)
            boards[:] = rng.integers(0, 2**64, count, dtype=np.uint64)
            expected = _play(boards.copy(), plies)
            submission.play(boards, count, plies, threads)
            team = f"{plies} plies by {threads} thread{'s' * (threads > 1)}"
            yield compare(
                boards, expected, f"board {{}} of {count} after {team}".format, exact=True
            )


LAB = Lab(
    "04c",
    ("play",),
    _judge,
    target=0.7,
    cause="sharing",
    **for_case(f"""
struct Case {{
  std::uint64_t boards[{_BOARDS}], played[{_BOARDS}];
  void make(std::uint64_t seed) {{
    for (int i = 0; i < {_BOARDS}; ++i) boards[i] = mixed(seed + i);
  }}
  void run() {{
    for (int i = 0; i < {_BOARDS}; ++i) played[i] = boards[i];
    play(played, {_BOARDS}, {_PLIES}, {usable_cores()});
  }}
  std::uint64_t digest() const {{
    std::uint64_t all = 0;
    for (std::uint64_t board : played) all = std::rotl(all, 7) + board;
    return all;
  }}
}};
"""),
    per=Unit("ply", _PLIES),
)
