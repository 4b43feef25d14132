"""Lab 04b: threads that count, each in its own cache lines."""

import functools
from pathlib import Path

import numpy as np

from rungs.chess import NUM_PLANES
from rungs.machine import usable_cores
from rungs_course.labs import guarded
from rungs_course.labs.lab import Difference, Lab, timed

_ACTIONS = 2_000_003
_MAX_THREADS = 64
_TEAMS = (1, 2, 3, _MAX_THREADS)


@functools.cache
def _actions() -> np.ndarray:
    """Returns (N,) int16 actions of which half are on the first four planes, as in real games."""
    rng = np.random.default_rng(8)
    planes = rng.integers(0, np.where(rng.random(_ACTIONS) < 0.5, 4, NUM_PLANES))
    return (64 * planes + rng.integers(0, 64, _ACTIONS)).astype(np.int16)


def _judge(functions):
    actions = _actions()
    for threads in _TEAMS:
        for count in (1, 1000, _ACTIONS):
            chosen = actions[:count]
            expected = np.bincount(chosen >> 6, minlength=NUM_PLANES)
            totals = guarded.empty(NUM_PLANES, np.int64)
            functions.run(guarded.copy(chosen), count, threads, totals)
            wrong = np.flatnonzero(totals != expected)
            if wrong.size:
                plane = int(wrong[0])
                what = f"how many of {count} actions are on plane {plane}, counted by {threads}"
                what += f" thread{'s' * (threads > 1)}"
                return Difference(what, str(expected[plane]), str(totals[plane]))
    return None


def _work(functions):
    actions, threads = _actions(), usable_cores()
    totals = np.empty(NUM_PLANES, np.int64)
    return timed(lambda: functions.run(actions, len(actions), threads, totals))


LAB = Lab(
    name="04b",
    title="false sharing, mended",
    notebook="04_openmp",
    minutes=20,
    goal="""How often is each of the 73 planes played? Write a function that is given `count`
actions (action `a` is on plane `a / 64`) and writes the 73 `totals`, counted by `threads` threads,
at most 64. In the baseline every thread has counters of its own, and yet it is slow: the counters
of a plane, thread 0's and thread 1's, lie side by side in one cache line of 64 bytes, and two cores
that write to a line take it from each other at every count. Give each thread lines that are its
alone.""",
    defines=("count_planes",),
    hints=(
        "What a thread writes to often should be declared within its part of the loop: then it "
        "lies on that thread's own stack. Only what it has found at the end goes where others "
        "write.",
        "`std::int64_t own[73] = {};` within the loop over threads, and behind the counting an "
        "`#pragma omp critical` in which a thread adds its 73 numbers to `totals`. A count must "
        "wait for the one before where both are of the same plane: two tables that take turns "
        "halve that wait.",
    ),
    judge=_judge,
    work=_work,
    target=0.7,
    folder=Path(__file__).parent,
    harness="""
void run(const std::int16_t* actions, std::int64_t count, std::int32_t threads,
         std::int64_t* totals) {
  count_planes(actions, count, threads, totals);
}
""",
    alone=True,
)
