"""Lab 15a: how much better than expected an action was."""

import functools
from typing import NamedTuple

import numpy as np

from rungs_course.labs.arrays import first_difference, fixed
from rungs_course.labs.lab import Difference, Lab, timed


class Rollout(NamedTuple):
    """What was played, in NumPy: (T, N) rewards and ends, (T + 1, N) values."""

    reward: np.ndarray
    ended: np.ndarray
    value: np.ndarray
    gamma: float
    gae_lambda: float


def _random(seed: int, steps: int, envs: int, ends: list[int] | float, *settings) -> Rollout:
    """Returns a rollout whose episodes end at these steps, or at `ends` at random."""
    rng = np.random.default_rng(seed)
    ended = np.zeros((steps, envs), bool)
    if isinstance(ends, float):
        ended = rng.random((steps, envs)) < ends
    else:
        ended[ends] = True
    reward, value = rng.integers(-1, 2, (steps, envs)), rng.normal(size=(steps + 1, envs))
    return Rollout(fixed(reward), fixed(ended, bool), fixed(value), *settings)


@functools.cache
def cases() -> dict[str, Rollout]:
    """Returns rollouts by what is special about them, the simplest first."""
    return {
        "no episode ends": _random(1, 4, 1, [], 0.9, 0.8),
        "an episode ends with step 1": _random(2, 4, 1, [1], 0.9, 0.8),
        "an episode ends with the last step, 3": _random(3, 4, 1, [3], 0.9, 0.8),
        "steps 1 and 2 end episodes, gamma is 1": _random(4, 5, 2, [1, 2], 1.0, 0.9),
        "lambda is 0": _random(5, 4, 2, [2], 0.9, 0.0),
        "lambda is 1": _random(6, 6, 2, [2], 0.9, 1.0),
        "a tenth of the steps ends episodes": _random(7, 40, 5, 0.1, 0.99, 0.95),
    }


def by_definition(rollout: Rollout) -> np.ndarray:
    """Returns the sum of all surprises until the episode ends, each weighed by its distance.

    Schulman et al., 2016, arXiv:1506.02438, equation 16.
    """
    reward, ended, value, gamma, gae_lambda = rollout
    surprise = reward + gamma * np.where(ended, 0, value[1:]) - value[:-1]
    result = np.zeros_like(reward)
    for step, env in np.ndindex(reward.shape):
        ends = np.flatnonzero(ended[step:, env])
        own = surprise[step:, env][: ends[0] + 1 if len(ends) else None]
        result[step, env] = own @ (gamma * gae_lambda) ** np.arange(len(own))
    return result


def _judge(functions) -> Difference | None:
    for special, rollout in cases().items():
        found = first_difference(
            functions.advantages(*rollout),
            by_definition(rollout),
            functools.partial(_what, rollout, special),
            whole=f"all advantages, where {special}",
            last=True,
        )
        if found:
            return found
    return None


def _what(rollout: Rollout, special: str, step: int, env: int) -> str:
    reward, ended, value, gamma, gae_lambda = rollout
    return (
        f"the advantage of [{step}, {env}], where {special} (its reward is {reward[step, env]:g}, "
        f"its values are {value[step, env]:.4g} and {value[step + 1, env]:.4g}, its episode "
        f"{'ends' if ended[step, env] else 'goes on'}; gamma {gamma}, lambda {gae_lambda})"
    )


def _work(functions):
    rollout = _random(8, 64, 64, 0.02, 0.99, 0.95)
    return timed(lambda: functions.advantages(*rollout))


LAB = Lab(
    name="15a",
    defines=("advantages",),
    judge=_judge,
    work=_work,
    target=0.5,
    language="python",
)
