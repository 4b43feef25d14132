"""The first layer of a network over `obs="board"`: what stands on each square, and the rest.

As a vector an observation has 840 numbers: 13 for each square, of which one is 1 and twelve are 0,
and 8 more.
"""

import torch
from torch import nn

from rungs._src.train.bags import sums

NUM_PIECES = 13  # -6..6
# What follows the squares in an observation, each at most about 1: castling rights, the file of an
# en-passant capture, halfmove clock, repetitions, side to move.
_SCALES = (1.0, 1.0, 1.0, 1.0, 1 / 8, 1 / 100, 1 / 2, 1.0)
_ONE_HOT = 64 * NUM_PIECES


class DenseSquares(nn.Linear):
    """A linear layer that multiplies all 840 numbers, zeros too.

    Args:
        width: units.
    """

    # Buffers, in which `nn.Module` might hold modules, too.
    _offsets: torch.Tensor
    _scales: torch.Tensor

    def __init__(self, width: int):
        super().__init__(_ONE_HOT + len(_SCALES), width)
        _add_buffers(self)

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        """Returns (N, width) for observations, (N, 72) int8."""
        pieces = self.weight.new_zeros((len(observation), _ONE_HOT))
        pieces.scatter_(1, observation[:, :64] + self._offsets, 1.0)
        return super().forward(torch.cat([pieces, observation[:, 64:] * self._scales], 1))


class SparseSquares(nn.Linear):
    """The same layer, as a sum of those columns of its matrix that are multiplied by 1.

    Parameters have the names, shapes and first values of `DenseSquares`. The matrix lies in memory
    by columns, so that each is read in one go.

    Args:
        width: units.
    """

    _offsets: torch.Tensor
    _scales: torch.Tensor

    def __init__(self, width: int):
        super().__init__(_ONE_HOT + len(_SCALES), width)
        self.weight = nn.Parameter(self.weight.detach().t().contiguous().t())
        _add_buffers(self)

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        """Returns (N, width) for observations, (N, 72) int8."""
        columns = self.weight.t()
        pieces = sums(columns[:_ONE_HOT], observation[:, :64] + self._offsets)
        rest = observation[:, 64:] * self._scales
        return pieces + torch.addmm(self.bias, rest, columns[_ONE_HOT:])


def _add_buffers(layer: nn.Module) -> None:
    offsets = torch.arange(64) * NUM_PIECES + 6
    layer.register_buffer("_offsets", offsets, persistent=False)
    layer.register_buffer("_scales", torch.tensor(_SCALES), persistent=False)
