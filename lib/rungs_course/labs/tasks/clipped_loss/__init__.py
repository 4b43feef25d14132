"""Lab 15b: PPO's clipped loss, and its gradient."""

import functools
from typing import NamedTuple

import numpy as np

from rungs.errors import UnavailableError, install_hint
from rungs_course.labs.arrays import first_difference, fixed
from rungs_course.labs.lab import Difference, Lab, timed


class Batch(NamedTuple):
    """Log-probabilities of actions, now and when played, (n,), their advantages, and the clip."""

    new: np.ndarray
    old: np.ndarray
    advantage: np.ndarray
    clip: float


def _batch(ratio, advantage, clip: float) -> Batch:
    old = np.full(np.shape(ratio), -1.5)
    return Batch(fixed(old + np.log(ratio)), fixed(old), fixed(advantage), clip)


@functools.cache
def _cases() -> list[Batch]:
    """Single actions of all kinds, then many at once."""
    single = [
        _batch([ratio], [advantage], 0.2)
        for advantage in (2.0, -2.0)
        for ratio in (1.1, 0.9, 1.5, 0.5)
    ]
    rng = np.random.default_rng(9)
    ratio, advantage = np.exp(rng.normal(0, 0.4, 300)), rng.normal(size=300)
    return [*single, _batch([1.5, 0.5, 1.1], [1.0, 1.0, -1.0], 0.1), _batch(ratio, advantage, 0.3)]


def _by_autograd(batch: Batch) -> tuple[float, np.ndarray]:
    """Returns the loss and its gradient, by PyTorch (Schulman et al., 2017, equation 7)."""
    try:
        import torch
    except ModuleNotFoundError:
        message = f"lab 15b needs torch to compute what is right: {install_hint('train')}"
        raise UnavailableError(message) from None
    old, advantage = torch.tensor(batch.old), torch.tensor(batch.advantage)
    new = torch.tensor(batch.new, requires_grad=True)
    ratio = (new - old).exp()
    clipped = ratio.clamp(1 - batch.clip, 1 + batch.clip)
    loss = -torch.minimum(ratio * advantage, clipped * advantage).mean()
    (gradient,) = torch.autograd.grad(loss, new)
    return loss.item(), gradient.numpy()


def _judge(functions) -> Difference | None:
    for batch in _cases():
        loss, gradient = _by_autograd(batch)
        count, found = len(batch.new), functions.clipped_loss(*batch)
        if not isinstance(found, tuple | list) or len(found) != 2:
            return Difference("what it returns", "the loss and the gradient", f"{found!r:.200}")
        ratio = np.exp(batch.new - batch.old)
        names = [
            f"an action with ratio {r:.2f}, advantage {a:.2f}, clip {batch.clip}"
            for r, a in zip(ratio, batch.advantage, strict=True)
        ]
        of = f"the loss of {names[0] if count == 1 else f'{count} actions'}"
        difference = first_difference(found[0], loss, lambda of=of: of, whole=of)
        difference = difference or first_difference(
            found[1],
            gradient,
            lambda i, names=names, count=count: f"the gradient for {names[i]}, of {count}",
            whole=f"the gradient for {count} actions",
        )
        if difference:
            return difference
    return None


def _work(functions):
    rng = np.random.default_rng(10)
    batch = _batch(np.exp(rng.normal(0, 0.2, 8192)), rng.normal(size=8192), 0.2)
    return timed(lambda: functions.clipped_loss(*batch))


LAB = Lab(
    name="15b",
    defines=("clipped_loss",),
    judge=_judge,
    work=_work,
    target=0.6,
    language="python",
)
