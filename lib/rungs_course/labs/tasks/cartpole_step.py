"""Lab 13: a step of many carts and poles in one pass."""

import functools

import numpy as np

from rungs_course.labs.arrays import compare, fixed
from rungs_course.labs.lab import Call, Difference, Lab

NAMES = ("x", "x_dot", "theta", "theta_dot")


def play_gymnasium(state: np.ndarray, action: np.ndarray) -> tuple[np.ndarray, ...]:
    """Plays Gymnasium's CartPole, a cart after the other, until each has fallen.

    Takes initial states, (4, N), and actions, (T, N); returns final states, (4, N), steps played,
    (N,), and which carts have fallen, (N,) bool.
    """
    from gymnasium.envs.classic_control.cartpole import CartPoleEnv

    env, carts = CartPoleEnv(), state.shape[1]
    after, lasted, fallen = state.copy(), np.zeros(carts, np.int64), np.zeros(carts, bool)
    for i in range(carts):
        env.reset()
        env.state = state[:, i].copy()
        while lasted[i] < len(action) and not fallen[i]:
            _, _, fallen[i], _, _ = env.step(int(action[lasted[i], i]))
            lasted[i] += 1
        after[:, i] = env.state
    return after, lasted, fallen


def _random(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns states of `count` carts that have not fallen, (4, N), and actions, (N,)."""
    rng = np.random.default_rng(seed)
    limits = np.array([2.4, 3.0, np.radians(12), 3.0])[:, None]
    return rng.uniform(-limits, limits, (4, count)), rng.integers(0, 2, count)


@functools.cache
def _case() -> tuple[np.ndarray, ...]:
    """Returns carts (two at rest, then moving ones) and actions; the next states, and who falls."""
    state, action = _random(13, 400)
    state, action = np.hstack([np.zeros((4, 2)), state]), np.append([0, 1], action)
    after, _, fallen = play_gymnasium(state, action[None])
    return fixed(state), fixed(action, np.int64), after, fallen


def _judge(submission, _):
    state, action, after, fallen = _case()
    got = submission.step(state, action)
    if not isinstance(got, tuple | list) or len(got) != 2:
        yield Difference("what it returns", "all states and who has fallen", f"{got!r:.200}")

    def cart(i: int) -> str:
        numbers = zip(NAMES, state[:, i], strict=True)
        before = ", ".join(f"{name} {value:.4g}" for name, value in numbers)
        return f"cart {i} ({before}, pushed {'right' if action[i] else 'left'})"

    yield compare(
        got[0],
        after,
        lambda row, i: f"{NAMES[row]} after a step of {cart(i)}",
        array_label="all states",
    )
    yield compare(
        got[1],
        fallen,
        lambda i: f"has it fallen (1) or not (0), after a step of {cart(i)}",
        array_label="who has fallen",
    )


def _race(rng):
    """Returns a call for several steps in a row, in which poles don't turn over."""
    state, _ = _random(int(rng.integers(1 << 31)), 8192)
    state[[1, 3]] /= 3
    return [Call("step", (fixed(state), fixed(rng.integers(0, 2, (8, 8192)), np.int64)), "chain")]


LAB = Lab("13", ("step",), _judge, target=0.3, cause="core bound", language="python", race=_race)
