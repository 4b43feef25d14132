"""Arrays by name: what an environment writes its outputs to."""

import types
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from rungs._src.core.batch_env import Array
from rungs._src.core.memory import whole_lines, zeroed_lines

# By the names of arrays, shape and dtype of one board's part.
Kinds = dict[str, tuple[tuple[int, ...], DTypeLike]]


class Buffers(types.SimpleNamespace):
    """Arrays by name, of chess those of `ChessSettings.output_kinds`; each step overwrites them."""

    @classmethod
    def allocate(cls, kinds: Kinds, *boards: int) -> "Buffers":
        """Makes zeroed arrays, each on cache lines, for N boards, or for T and N in T steps.

        `kinds` has shape and dtype of one board's part by name, as `ChessSettings.output_kinds()`.
        """
        like = cls.like(kinds, *boards)
        return like.within(zeroed_lines(like.memory_bytes()))

    @classmethod
    def like(cls, kinds: Kinds, *boards: int) -> "Buffers":
        """Makes arrays like `allocate`'s without memory of their own, for `within`."""
        return cls(
            **{
                name: np.broadcast_to(np.zeros((), dtype), (*boards, *shape))
                for name, (shape, dtype) in kinds.items()
            }
        )

    def memory_bytes(self) -> int:
        """Returns the size of memory that `within` needs."""
        return sum(whole_lines(array.nbytes) for array in vars(self).values())

    def within(self, memory: Any) -> "Buffers":
        """Makes arrays like these in `memory`, one after the other, on cache lines of their own."""
        arrays, at = {}, 0
        for name, array in vars(self).items():
            arrays[name] = np.frombuffer(memory, array.dtype, array.size, at).reshape(array.shape)
            at += whole_lines(array.nbytes)
        return Buffers(**arrays)

    def rows(self, which: slice | int) -> "Buffers":
        """Returns views of some boards' rows, or of one of several steps."""
        return type(self)(**{name: array[which] for name, array in vars(self).items()})

    def is_like(self, other: "Buffers") -> bool:
        """Returns whether the arrays have `other`'s shapes and dtypes, and are contiguous."""
        return [*vars(self)] == [*vars(other)] and all(
            isinstance(array, np.ndarray)
            and (array.shape == like.shape and array.dtype == like.dtype and array.flags.carray)
            for array, like in zip(vars(self).values(), vars(other).values(), strict=True)
        )

    def save(self) -> dict[str, Array]:
        """Copies all arrays, for `restore`."""
        return {name: array.copy() for name, array in vars(self).items()}

    def restore(self, saved: dict[str, Array]) -> None:
        """Writes back what `save` copied, or arrays like it, or some of them."""
        for name, array in saved.items():
            getattr(self, name)[:] = array
