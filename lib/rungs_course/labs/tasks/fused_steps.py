"""Lab 13b: many steps in one launch of a kernel."""

import functools

import numpy as np

from rungs_course.labs.arrays import compare
from rungs_course.labs.lab import Lab, require
from rungs_course.labs.tasks.cartpole_step import NAMES, play_gymnasium

_CARTS, _STEPS, _THREADS = 40, 40, 32  # some threads of the last block have no cart


class Memory:
    """An array that a simulated kernel reads and writes, number by number; it counts accesses."""

    remote_methods, remote_fields = ("__len__", "__getitem__", "__setitem__"), ("shape", "size")

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
        """Counts one access; raises IndexError for an index that a GPU would let pass."""
        position = tuple(int(i) for i in (index if isinstance(index, tuple) else (index,)))
        element = f"{self._name}[{', '.join(map(str, position))}]"
        if len(position) != len(self.shape):
            raise IndexError(f"{element} is not one element of shape {self.shape}")
        if not all(0 <= i < length for i, length in zip(position, self.shape, strict=True)):
            raise IndexError(f"{element} is outside: the array has shape {self.shape}")
        self.accesses += 1
        return position


@functools.cache
def _case(seed: int = 13) -> tuple[np.ndarray, ...]:
    """Returns initial states, (4, N), actions, (T, N), final states, and how long carts lasted."""
    rng = np.random.default_rng(seed)
    state = rng.uniform(-0.05, 0.05, (4, _CARTS))
    action = rng.integers(0, 2, (_STEPS, _CARTS))
    after, lasted, _ = play_gymnasium(state, action)
    return state, action, after, lasted


def _launch(functions, seed: int = 13) -> tuple[Memory, Memory, Memory]:
    """Launches the kernel once; returns the states, the actions and how long carts lasted."""
    state, action, *_ = _case(seed)
    lasted = np.full(_CARTS, -1, np.int64)
    memory = Memory("state", state), Memory("action", action), Memory("lasted", lasted)
    functions.play[-(-_CARTS // _THREADS), _THREADS](*memory)
    return memory


def _judge(submission, _):
    yield from _differences(_launch(submission))


def _differences(played: tuple[Memory, Memory, Memory], seed: int = 13):
    """Yields what is wrong with the states and with how long carts lasted."""
    *_, after, lasted = _case(seed)
    state, _, steps = played
    yield compare(
        steps.values,
        lasted,
        lambda i: f"how many steps cart {i} lasted, of {_STEPS}",
        array_label="how long all carts lasted",
    )
    yield compare(
        state.values,
        after,
        lambda row, i: f"{NAMES[row]} of cart {i} after {lasted[i]} steps",
        array_label="all states",
    )


def _count(functions, seed: int) -> float:
    *_, lasted = _case(seed)
    played = _launch(functions, seed)
    require(_differences(played, seed))
    return sum(array.accesses for array in played) / lasted.sum()


LAB = Lab(
    "13b",
    ("play",),
    _judge,
    0.9,
    "exercise",
    language="cuda",
    alone=True,
    unit="accesses a step",
    count=_count,
)
