"""The tensors that a chess environment on a GPU writes its outputs to."""

from typing import Any

import numpy as np
import torch

from rungs._src.chess.buffers import Buffers
from rungs._src.chess.settings import ChessSettings


class TensorBuffers(Buffers):
    """As `Buffers`, a tensor per output, all on one device.

    Attributes:
        told: no output: whose boards write here, with which seed, and the struct on the device by
            which their kernels know.
    """

    __slots__ = ("told",)

    def __init__(self, **outputs: torch.Tensor):
        super().__init__(**outputs)
        self.told: tuple[object, int, Any] = (None, 0, None)

    @classmethod
    def on(
        cls, device: torch.device, boards: tuple[int, ...], settings: ChessSettings
    ) -> "TensorBuffers":
        """Allocates zeroed tensors; see `Buffers.allocate`."""
        return cls(
            **{
                name: torch.zeros(array.shape, dtype=_dtype(array), device=device)
                for name, array in vars(Buffers.like(boards, settings)).items()
            }
        )

    def memory_bytes(self) -> int:
        """Returns the size of all of them."""
        return sum(tensor.nbytes for tensor in vars(self).values())

    def is_like(self, other: Buffers) -> bool:
        """Says whether tensors have shapes, dtypes and device of another's, and are contiguous."""
        return [*vars(self)] == [*vars(other)] and all(
            isinstance(ours, torch.Tensor)
            and (ours.shape, ours.dtype, ours.device) == (theirs.shape, theirs.dtype, theirs.device)
            and ours.is_contiguous()
            for ours, theirs in zip(vars(self).values(), vars(other).values(), strict=True)
        )

    def save(self) -> dict[str, torch.Tensor]:
        """Copies of all tensors, for `restore`."""
        return {name: tensor.clone() for name, tensor in vars(self).items()}


def _dtype(array: np.ndarray) -> torch.dtype:
    if array.dtype == np.uint16:  # NumPy's words of what PyTorch knows
        return torch.bfloat16
    return torch.from_numpy(np.zeros(1, array.dtype)).dtype
