"""The network's sparse products, computed by embedding-bag kernels: no zero is multiplied.

A bag is a list of rows of a table; each position has one. The M rows of all bags, of k numbers
each, are never copied to a tensor of their own.

The first layer reads `obs="board"`: as a vector an observation has 840 numbers, 13 for each square,
of which one is 1 and twelve are 0, and 8 more.
"""

import torch
from torch import nn

NUM_PIECES = 13  # -6..6
# What follows the squares in an observation, each at most about 1: castling rights, the file of an
# en-passant capture, halfmove clock, repetitions, side to move.
_SCALES = (1.0, 1.0, 1.0, 1.0, 1 / 8, 1 / 100, 1 / 2, 1.0)
_ONE_HOT = 64 * NUM_PIECES
_SUM = 0  # PyTorch's number of an embedding bag's mode "sum"


class DenseSquares(nn.Linear):
    """A linear layer that multiplies all 840 numbers, zeros too."""

    # Buffers, declared as tensors here: by `nn.Module` they might be modules, too.
    _offsets: torch.Tensor
    _scales: torch.Tensor

    def __init__(self, width: int):
        super().__init__(_ONE_HOT + len(_SCALES), width)
        offsets = torch.arange(64) * NUM_PIECES + 6
        self.register_buffer("_offsets", offsets, persistent=False)
        self.register_buffer("_scales", torch.tensor(_SCALES), persistent=False)

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        """Returns (N, width) for observations, (N, 72) int8."""
        pieces = self.weight.new_zeros((len(observation), _ONE_HOT))
        pieces.scatter_(1, observation[:, :64] + self._offsets, 1.0)
        return super().forward(torch.cat([pieces, observation[:, 64:] * self._scales], 1))


class SparseSquares(DenseSquares):
    """The same layer, of `width` units, as a sum of those columns that are multiplied by 1.

    Parameters have the names, shapes and first values of `DenseSquares`. The matrix lies in memory
    by columns, so that each is read in one go.
    """

    def __init__(self, width: int):
        super().__init__(width)
        self.weight = nn.Parameter(self.weight.detach().t().contiguous().t())

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        """Returns (N, width) for observations, (N, 72) int8."""
        columns = self.weight.t()
        rows = (observation[:, :64] + self._offsets).flatten()
        count = torch.full((len(observation),), 64, device=rows.device)
        pieces = sums(columns[:_ONE_HOT], rows, count)
        rest = observation[:, 64:] * self._scales
        return pieces + torch.addmm(self.bias, rest, columns[_ONE_HOT:])


def sums(table: torch.Tensor, rows: torch.Tensor, count: torch.Tensor) -> torch.Tensor:
    """Returns sums of rows (M,) of a table (W, k), `count` by position, (N, k); W is below 2^15."""
    return _Sums.apply(table, rows, count)


def products(
    query: torch.Tensor,
    table: torch.Tensor,
    rows: torch.Tensor,
    bag: torch.Tensor,
    count: torch.Tensor,
) -> torch.Tensor:
    """Returns products of rows (M,) of a table (W, k) with queries (N, k) of their bags, (M,)."""
    return _Products.apply(query, table, rows, bag, count.cumsum(0) - count)


class _Sums(torch.autograd.Function):
    @staticmethod
    def forward(ctx, table, rows, count):
        ctx.save_for_backward(rows, count)
        ctx.width = len(table)
        first = count.cumsum(0) - count
        return torch.nn.functional.embedding_bag(rows, table, first, mode="sum")

    @staticmethod
    def backward(ctx, gradient):  # type: ignore[override]  # one output
        rows, count = ctx.saved_tensors
        bag = torch.arange(len(count), device=rows.device).repeat_interleave(count)
        return _by_row(gradient, rows, bag, ctx.width, None), None, None


class _Products(torch.autograd.Function):
    @staticmethod
    def forward(ctx, query, table, rows, bag, first):
        ctx.save_for_backward(query, table, rows, bag, first)
        # The gradient of the weights of an embedding bag's rows is just this product.
        product = torch.ops.aten._embedding_bag_per_sample_weights_backward
        return product(query, table, rows, first, bag, _SUM)

    @staticmethod
    def backward(ctx, gradient):  # type: ignore[override]  # one output
        query, table, rows, bag, first = ctx.saved_tensors
        by_query, *_ = torch.embedding_bag(table, rows, first, False, _SUM, False, gradient)
        by_table = _by_row(query, rows, bag, len(table), gradient)
        return by_query, by_table, None, None, None


def _by_row(vectors, rows, bag, width: int, weights) -> torch.Tensor:
    """Adds up, for every row of a table, the vectors (N, k) of the bags that contain it, (W, k)."""
    ordered, order = rows.to(torch.int16).sort(stable=True)
    every = torch.arange(width, dtype=torch.int16, device=rows.device)
    first = torch.searchsorted(ordered, every)
    weights = None if weights is None else weights[order]
    return torch.embedding_bag(vectors, bag[order], first, False, _SUM, False, weights)[0]
