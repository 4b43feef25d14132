"""Lab 07: a faster step's gain in training, in a formula that a simulation agrees with."""

import math

import numpy as np

from rungs_course.labs.arrays import compare
from rungs_course.labs.lab import Call, Difference, Lab

_CASES = 300


def _cases() -> list[tuple[float, float, int, bool]]:
    """Returns seconds to generate and to update, batches, and whether generation runs ahead."""
    rng = np.random.default_rng(14)
    cases = [(3.0, 1.0, 1, False), (3.0, 1.0, 1, True), (3.0, 1.0, 10, True), (1.0, 3.0, 10, True)]
    for _ in range(_CASES):
        generate, update = rng.exponential(1.0, 2).tolist()
        cases.append((generate, update, int(rng.integers(1, 60)), bool(rng.integers(2))))
    return cases


def _wishes() -> list[tuple[float, float, float]]:
    rng = np.random.default_rng(15)
    wishes = [(9.0, 1.0, 5.0), (9.0, 1.0, 12.0), (1.0, 1.0, 1.0), (3.0, 0.0, 40.0)]
    for _ in range(_CASES):
        generate, update = rng.exponential(1.0, 2).tolist()
        wishes.append((generate, update, float(rng.uniform(1, 4))))
    return wishes


def _judge(submission, baseline):
    for generate, update, batches, ahead in _cases():
        yield compare(
            submission.training_seconds(generate, update, batches, ahead),
            baseline.training_seconds(generate, update, batches, ahead),
            f"seconds of {batches} batches, {generate:.4g} s to generate and {update:.4g} s to "
            f"update, {'one batch ahead' if ahead else 'one after the other'}",
        )
    # Gains are tried out: training must be `wanted` times as fast, if any gain can do that.
    for generate, update, wanted in _wishes():
        gain = submission.gain_needed(generate, update, wanted)
        parts = f"{generate:.4g} s to generate and {update:.4g} s to update"
        bound = (generate + update) / update if update else math.inf
        if gain == math.inf or wanted >= bound or gain <= 0:
            if gain != math.inf or wanted < bound:
                output = f"the gain needed for training to be {wanted:.4g} times as fast, {parts}"
                possible = "some number above 0" if wanted < bound else "math.inf"
                yield Difference(output, possible, f"{gain:.4g}")
            continue
        before = baseline.training_seconds(generate, update, 100, False)
        after = baseline.training_seconds(generate / gain, update, 100, False)
        label = f"training's gain with generation {gain:.4g} times as fast, {parts}"
        yield compare(before / after, wanted, label)


def _race(rng):
    generate, update = rng.exponential(1.0, (2, _CASES))
    batches, ahead = rng.integers(1, 60, _CASES), rng.integers(2, size=_CASES).astype(bool)
    return [
        Call("training_seconds", (generate, update, batches, ahead), "each"),
        Call("gain_needed", (generate, update, rng.uniform(1, 4, _CASES)), "each"),
    ]


LAB = Lab(
    "07",
    ("training_seconds", "gain_needed"),
    _judge,
    target=0.5,
    cause="exercise",
    language="python",
    race=_race,
)
