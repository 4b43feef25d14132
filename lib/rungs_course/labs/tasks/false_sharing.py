"""Lab 04b: threads that count, each in its own cache lines."""

import functools

import numpy as np

from rungs.chess import NUM_PLANES
from rungs.machine import usable_cores
from rungs_course.labs.arrays import compare, fixed
from rungs_course.labs.inside.guards import guarded, guarded_empty
from rungs_course.labs.lab import Call, Lab

_ACTIONS = 2_000_003
_TEAMS = (1, 2, 3, 64)


@functools.cache
def _actions() -> np.ndarray:
    """Returns (N,) int16 actions of which half are on the first four planes, as in real games."""
    rng = np.random.default_rng(8)
    planes = rng.integers(0, np.where(rng.random(_ACTIONS) < 0.5, 4, NUM_PLANES))
    return (64 * planes + rng.integers(0, 64, _ACTIONS)).astype(np.int16)


def _judge(submission, _):
    for threads in _TEAMS:
        for count in (1, 1000, _ACTIONS):
            chosen = guarded(_actions()[:count])
            totals = guarded_empty(NUM_PLANES, np.int64)
            submission.run(chosen, count, threads, totals)
            counted = f"counted by {threads} thread{'s' * (threads > 1)}"
            yield compare(
                totals,
                np.bincount(chosen >> 6, minlength=NUM_PLANES),
                lambda plane, count=count, counted=counted: (
                    f"how many of {count} actions are on plane {plane}, {counted}"
                ),
                exact=True,
            )


def _race(rng):
    shift = int(rng.integers(1, 64 * NUM_PLANES))
    actions = (_actions() + shift) % (64 * NUM_PLANES)
    first = int(rng.integers(1, len(actions)))
    actions = fixed(np.roll(actions, first)[: _ACTIONS - first % 1000], np.int16)
    args = actions, len(actions), usable_cores(), np.zeros(NUM_PLANES, np.int64)
    return [Call("run", args)]


LAB = Lab(
    "04b",
    ("count_planes",),
    _judge,
    target=0.7,
    cause="sharing",
    harness="""
void run(const std::int16_t* actions, std::int64_t count, std::int32_t threads,
         std::int64_t* totals) {
  count_planes(actions, count, threads, totals);
}
""",
    alone=True,
    race=_race,
)
