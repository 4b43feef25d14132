"""Lab 13: a step of many carts and poles in one pass."""

import functools

import numpy as np

from rungs_course.labs.arrays import first_difference, fixed
from rungs_course.labs.lab import Difference, Lab, timed

_NAMES = ("x", "x_dot", "theta", "theta_dot")


def _random(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns states of `count` carts that have not fallen, (4, N), and actions, (N,)."""
    rng = np.random.default_rng(seed)
    limits = np.array([2.4, 3.0, np.radians(12), 3.0])[:, None]
    return fixed(rng.uniform(-limits, limits, (4, count))), fixed(
        rng.integers(0, 2, count), np.int64
    )


@functools.cache
def _case() -> tuple[np.ndarray, np.ndarray]:
    """Returns carts at rest, then moving ones, of which some fall; and actions."""
    state, action = _random(13, 400)
    at_rest = np.zeros((4, 2))
    return fixed(np.hstack([at_rest, state])), fixed(np.append([0, 1], action), np.int64)


@functools.cache
def _expected() -> tuple[np.ndarray, np.ndarray]:
    """Returns what Gymnasium's CartPole makes of the case, a cart after the other."""
    from gymnasium.envs.classic_control.cartpole import CartPoleEnv

    env, (state, action) = CartPoleEnv(), _case()
    after, fallen = np.empty_like(state), np.empty(len(action), bool)
    env.reset()
    for i in range(len(action)):
        env.state, env.steps_beyond_terminated = state[:, i].copy(), None
        _, _, fallen[i], _, _ = env.step(int(action[i]))
        after[:, i] = env.state
    return after, fallen


def _described(i: int) -> str:
    state, action = _case()
    numbers = zip(_NAMES, state[:, i], strict=True)
    before = ", ".join(f"{name} {value:.4g}" for name, value in numbers)
    return f"cart {i} ({before}, pushed {'right' if action[i] else 'left'})"


def _judge(functions) -> Difference | None:
    after, fallen = _expected()
    got = functions.step(*_case())
    if not isinstance(got, tuple | list) or len(got) != 2:
        return Difference("what it returns", "all states and who has fallen", f"{got!r:.200}")
    return first_difference(
        got[0],
        after,
        lambda row, i: f"{_NAMES[row]} after a step of {_described(i)}",
        whole="all states",
    ) or first_difference(
        got[1],
        fallen,
        lambda i: f"has it fallen (1) or not (0), after a step of {_described(i)}",
        whole="who has fallen",
    )


def _work(functions):
    state, action = _random(14, 8192)
    functions.step(state, action)  # compiled now, if by Numba
    return timed(lambda: functions.step(state, action))


LAB = Lab(
    name="13",
    defines=("step",),
    judge=_judge,
    work=_work,
    target=0.3,
    language="python",
)
