"""Lab 13b: many steps in one launch of a kernel."""

import functools

import numpy as np

from rungs_course.labs.arrays import first_difference, fixed
from rungs_course.labs.lab import Difference, Lab

_CARTS, _STEPS, _THREADS = 70, 40, 32  # a block of threads has no cart for some of its own
_NAMES = ("x", "x_dot", "theta", "theta_dot")


class Memory:
    """An array that a simulated kernel reads and writes, number by number, and that counts it.

    Args:
        values: what it begins with; copied.

    Attributes:
        values: what is there.
        accesses: loads and stores so far.
    """

    def __init__(self, name: str, values: np.ndarray):
        self._name, self.values, self.accesses = name, values.copy(), 0
        self.shape, self.size = values.shape, values.size

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index):
        return self.values[self._counted(index)].item()

    def __setitem__(self, index, value) -> None:
        self.values[self._counted(index)] = value

    def _counted(self, index) -> tuple[int, ...]:
        """Counts one access, and refuses what a GPU would let a kernel do to others' memory."""
        place = tuple(int(i) for i in (index if isinstance(index, tuple) else (index,)))
        shown = f"{self._name}[{', '.join(map(str, place))}]"
        if len(place) != len(self.shape):
            raise IndexError(f"{shown} is no single number of shape {self.shape}")
        if not all(0 <= i < length for i, length in zip(place, self.shape, strict=True)):
            raise IndexError(f"{shown} is outside: the array has shape {self.shape}")
        self.accesses += 1
        return place


@functools.cache
def _case() -> tuple[np.ndarray, np.ndarray]:
    """Returns carts as they begin, (4, N), and actions for all steps, (T, N)."""
    rng = np.random.default_rng(13)
    state = rng.uniform(-0.05, 0.05, (4, _CARTS))
    return fixed(state), fixed(rng.integers(0, 2, (_STEPS, _CARTS)), np.int64)


@functools.cache
def _expected() -> tuple[np.ndarray, np.ndarray]:
    """Returns where Gymnasium's CartPole ends, (4, N), and after how many steps, (N,)."""
    from gymnasium.envs.classic_control.cartpole import CartPoleEnv

    env, (state, action) = CartPoleEnv(), _case()
    after, lasted = np.empty_like(state), np.empty(_CARTS)
    for i in range(_CARTS):
        env.reset()
        env.state, steps, over = state[:, i].copy(), 0, False
        while steps < _STEPS and not over:
            _, _, over, _, _ = env.step(int(action[steps, i]))
            steps += 1
        after[:, i], lasted[i] = env.state, steps
    return after, lasted


def _played(functions) -> tuple[Memory, Memory, Memory]:
    """Launches the kernel once; returns the states, the actions and how long carts lasted."""
    state, action = _case()
    lasted = np.full(_CARTS, -1, np.int64)
    memory = Memory("state", state), Memory("action", action), Memory("lasted", lasted)
    functions.play[-(-_CARTS // _THREADS), _THREADS](*memory)
    return memory


def _judge(functions) -> Difference | None:
    after, lasted = _expected()
    state, _, steps = _played(functions)
    return first_difference(
        steps.values,
        lasted,
        lambda i: f"how many steps cart {i} lasted, of {_STEPS}",
        whole="how long all carts lasted",
    ) or first_difference(
        state.values,
        after,
        lambda row, i: f"{_NAMES[row]} of cart {i} after {lasted[i]:.0f} steps",
        whole="all states",
    )


def _work(functions):
    played = _expected()[1].sum()
    return lambda: sum(array.accesses for array in _played(functions)) / played


LAB = Lab(
    name="13b",
    defines=("play",),
    judge=_judge,
    work=_work,
    target=0.9,
    language="cuda",
    alone=True,
    unit="accesses a step",
)
