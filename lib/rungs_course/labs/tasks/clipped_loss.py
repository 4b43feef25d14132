"""Lab 15b: PPO's clipped loss, and its gradient."""

import functools

import numpy as np

from rungs_course.labs.arrays import compare, fixed
from rungs_course.labs.lab import Call, Difference, Lab


def _batch(ratio, advantage, clip: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Returns log-probabilities of actions, now and when played, (n,), advantages, and the clip."""
    old = np.full(np.shape(ratio), -1.5)
    return fixed(old + np.log(ratio)), fixed(old), fixed(advantage), clip


@functools.cache
def cases() -> list[tuple[np.ndarray, np.ndarray, np.ndarray, float]]:
    """Returns single actions of all kinds, then many at once."""
    single = [
        _batch([ratio], [advantage], 0.2)
        for advantage in (2.0, -2.0)
        for ratio in (1.1, 0.9, 1.5, 0.5)
    ]
    rng = np.random.default_rng(9)
    ratio, advantage = np.exp(rng.normal(0, 0.4, 300)), rng.normal(size=300)
    return [*single, _batch([1.5, 0.5, 1.1], [1.0, 1.0, -1.0], 0.1), _batch(ratio, advantage, 0.3)]


def _judge(submission, baseline):
    for new, old, advantage, clip in cases():
        loss, gradient = baseline.clipped_loss(new, old, advantage, clip)
        count, result = len(new), submission.clipped_loss(new, old, advantage, clip)
        if not isinstance(result, tuple | list) or len(result) != 2:
            yield Difference("what it returns", "the loss and the gradient", f"{result!r:.200}")
        names = [
            f"an action with ratio {ratio:.2f}, advantage {value:.2f}, clip {clip}"
            for ratio, value in zip(np.exp(new - old), advantage, strict=True)
        ]
        yield compare(
            result[0], loss, f"the loss of {names[0] if count == 1 else f'{count} actions'}"
        )
        yield compare(
            result[1],
            gradient,
            lambda i, names=names, count=count: f"the gradient for {names[i]}, of {count}",
            array_label=f"the gradient for {count} actions",
        )


def _race(rng):
    ratio, advantage = np.exp(rng.normal(0, 0.2, 8192)), rng.normal(size=8192)
    return [Call("clipped_loss", _batch(ratio, advantage, 0.2))]


LAB = Lab(
    "15b",
    ("clipped_loss",),
    _judge,
    target=0.6,
    cause="core bound",
    language="python",
    race=_race,
)
