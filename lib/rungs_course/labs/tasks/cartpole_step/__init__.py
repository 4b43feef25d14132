"""Lab 13: a step of many carts and poles in one pass."""

import functools
from pathlib import Path

import numpy as np

from rungs_course.labs.lab import Difference, Lab, timed
from rungs_course.labs.numeric import first_difference, fixed

_NAMES = ("x", "x_dot", "theta", "theta_dot")


def _random(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns states of so many carts that have not fallen, (4, N), and actions, (N,)."""
    rng = np.random.default_rng(seed)
    most = np.array([2.4, 3.0, np.radians(12), 3.0])[:, None]
    return fixed(rng.uniform(-most, most, (4, count))), fixed(rng.integers(0, 2, count), np.int64)


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


def _told(i: int) -> str:
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
        lambda row, i: f"{_NAMES[row]} after a step of {_told(i)}",
        whole="all states",
    ) or first_difference(
        got[1],
        fallen,
        lambda i: f"has it fallen (1) or not (0), after a step of {_told(i)}",
        whole="who has fallen",
    )


def _work(functions):
    state, action = _random(14, 8192)
    functions.step(state, action)  # compiled now, if by Numba
    return timed(lambda: functions.step(state, action))


LAB = Lab(
    name="13",
    title="many carts in one pass",
    notebook="13_cartpole",
    minutes=35,
    goal=r"""Write a step of Gymnasium's CartPole for `N` carts. Given are `state`, `(4, N)`
float64, whose rows are `x`, `x_dot`, `theta` and `theta_dot`, and `action`, `(N,)`, 0 to push left,
1 right, with 10 newtons. Return the states after 0.02 s, and which of the carts have then fallen,
`(N,)` bool: `x` beyond 2.4 either way or `theta` beyond 12 degrees (it is in radians). With gravity
9.8, masses 1.0 of the cart and 0.1 of the pole, 1.1 together, and half the pole's length, 0.5:

    temp = (force + 0.1 * 0.5 * theta_dot**2 * sin(theta)) / 1.1
    theta_acc = (9.8 * sin(theta) - cos(theta) * temp)
                / (0.5 * (4 / 3 - 0.1 * cos(theta)**2 / 1.1))
    x_acc = temp - 0.1 * 0.5 * theta_acc * cos(theta) / 1.1

All four numbers go on by 0.02 times what they change by, *as it was before the step* (Euler's
method). In Python a cart takes microseconds. Use NumPy, and every operation goes through memory; or
Numba (`pip install numba`), compiled for the CPU, and all of a cart stays in registers.""",
    defines=("step",),
    hints=(
        "A loop over carts below `@numba.njit` is the loop of a kernel, with `i` for a thread. Let "
        "it write what it finds straight into `np.empty_like(state)`.",
        "What is left is mostly sine and cosine: calls, so that carts come one after the other. "
        "Poles that stand lean less than 0.21 radians, where a few terms of Taylor's series are "
        "exact: without a call or a branch, and with `fastmath=True`, a register holds several "
        "carts.",
    ),
    judge=_judge,
    work=_work,
    target=0.3,
    folder=Path(__file__).parent,
    language="python",
)
