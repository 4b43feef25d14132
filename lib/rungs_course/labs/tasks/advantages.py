"""Lab 15a: how much better than expected an action was."""

import functools

import numpy as np

from rungs_course.labs.arrays import compare, fixed
from rungs_course.labs.lab import Call, Lab


def _rollout(seed: int, steps: int, envs: int, ends: list[int] | float, *settings: float) -> tuple:
    """Returns rewards, (T, N), ends, (T, N), values, (T + 1, N), and gamma and lambda.

    `ends` lists the steps at which episodes end, or is the probability that a step ends one.
    """
    rng = np.random.default_rng(seed)
    ended = np.zeros((steps, envs), bool)
    if isinstance(ends, float):
        ended = rng.random((steps, envs)) < ends
    else:
        ended[ends] = True
    reward, value = rng.integers(-1, 2, (steps, envs)), rng.normal(size=(steps + 1, envs))
    return fixed(reward), fixed(ended, bool), fixed(value), *settings


# By their special property, the simplest first.
CASES = {
    "no episode ends": _rollout(1, 4, 1, [], 0.9, 0.8),
    "an episode ends with step 1": _rollout(2, 4, 1, [1], 0.9, 0.8),
    "an episode ends with the last step, 3": _rollout(3, 4, 1, [3], 0.9, 0.8),
    "steps 1 and 2 end episodes, gamma is 1": _rollout(4, 5, 2, [1, 2], 1.0, 0.9),
    "lambda is 0": _rollout(5, 4, 2, [2], 0.9, 0.0),
    "lambda is 1": _rollout(6, 6, 2, [2], 0.9, 1.0),
    "a tenth of the steps ends episodes": _rollout(7, 40, 5, 0.1, 0.99, 0.95),
}


def _judge(submission, baseline):
    for special, rollout in CASES.items():
        expected = baseline.advantages(*rollout)
        yield compare(
            submission.advantages(*rollout),
            expected,
            functools.partial(_label, special, *rollout),
            array_label=f"all advantages, where {special}",
            last=True,
        )


def _label(special, reward, ended, value, gamma, gae_lambda, step: int, env: int) -> str:
    return (
        f"the advantage of [{step}, {env}], where {special} (its reward is {reward[step, env]:g}, "
        f"its values are {value[step, env]:.4g} and {value[step + 1, env]:.4g}, its episode "
        f"{'ends' if ended[step, env] else 'goes on'}; gamma {gamma}, lambda {gae_lambda})"
    )


def _race(rng):
    return [Call("advantages", _rollout(int(rng.integers(1 << 31)), 64, 64, 0.02, 0.99, 0.95))]


LAB = Lab(
    "15a",
    ("advantages",),
    _judge,
    target=0.5,
    cause="core bound",
    language="python",
    race=_race,
)
