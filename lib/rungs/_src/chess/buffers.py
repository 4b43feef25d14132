"""The arrays a chess environment writes its outputs to."""

import types
from typing import TYPE_CHECKING, Any

import numpy as np

from rungs._src.chess.actions import NUM_ACTIONS, NUM_PLANES
from rungs._src.chess.observation import OBSERVATIONS
from rungs._src.core.batch_env import Array
from rungs._src.core.memory import whole_lines, zeroed_lines

if TYPE_CHECKING:
    from rungs._src.chess.settings import ChessSettings

# The most actions that are legal in any reachable position: see cpp/chess/action.hpp.
MAX_LEGAL = 218

# Shape and dtype of one board's mask.
MASKS = {
    "bool": ((NUM_ACTIONS,), np.bool_),
    "bits": ((NUM_PLANES,), np.uint64),
    "list": ((MAX_LEGAL,), np.int16),
}

# Every output by name, with one board's shape and dtype. First those of the current position, which
# a reset writes as well. C++ must have the same, `RUNGS_CHESS_OUTPUTS`, or no boards are made.
_OF_POSITION = {
    "observation": lambda settings: OBSERVATIONS[settings.obs, settings.dtype],
    "mask": lambda settings: MASKS[settings.mask],
    "action_count": lambda settings: (() if settings.mask == "list" else (0,), np.int16),
    "player": lambda settings: ((), np.int8),
}
OUTPUTS = _OF_POSITION | {
    "reward": lambda settings: ((), np.float32),
    "terminated": lambda settings: ((), np.bool_),
    "truncated": lambda settings: ((), np.bool_),
    "ended": lambda settings: ((), np.bool_),
    "reason": lambda settings: ((), np.int8),
    "final_observation": lambda settings: OBSERVATIONS[settings.obs, settings.dtype],
}
POSITION = tuple(_OF_POSITION)


class Buffers(types.SimpleNamespace):
    """One array per output, allocated once; every step overwrites them.

    Attributes:
        observation: (N, ...), a format of `rungs._src.chess.observation.OBSERVATIONS`.
        mask: (N, 4672) bool, (N, 73) uint64 or (N, 218) int16.
        action_count: (N,) int16, how many actions a mask lists; (N, 0) with other masks.
        reward: (N,) float32.
        terminated: (N,) bool.
        truncated: (N,) bool.
        ended: (N,) bool, either: boards whose episode the last step ended.
        reason: (N,) int8, a `rungs.chess.Reason`; 0 where no episode ended.
        player: (N,) int8, the side to move: 0 White, 1 Black.
        final_observation: like `observation`, the last one of each board's last episode.
    """

    @classmethod
    def allocate(cls, boards: tuple[int, ...], settings: "ChessSettings") -> "Buffers":
        """Makes zeroed arrays for boards of an environment.

        Args:
            boards: (N,), or (T, N) for the outputs of T steps.
            settings: the environment's, a `rungs.chess.ChessSettings`.

        They begin on cache lines, so that a `bool` mask is written in whole lines.
        """
        like = cls.like(boards, settings)
        return like.within(zeroed_lines(like.memory_bytes()))

    @classmethod
    def like(cls, boards: tuple[int, ...], settings: "ChessSettings") -> "Buffers":
        """Makes arrays like `allocate`'s without memory of their own, for `within`."""
        kinds = {name: kind(settings) for name, kind in OUTPUTS.items()}
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
