"""Products with matrices that are nearly all zeros and ones, by the kernels of an embedding bag.

A bag is a list of rows of a table; each position has one. Nothing is written for each entry of a
bag: a list of M rows of k numbers is never made.
"""

import torch

_SUM = 0  # how an embedding bag puts its rows together, by PyTorch's number


def sums(table: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """Returns the sums of rows of a table, (N, k).

    Args:
        table: (W, k), W at most 32,767.
        rows: (N, R) int64, which R rows a position's sum is of.
    """
    return _Sums.apply(table, rows)


def products(
    query: torch.Tensor, table: torch.Tensor, rows: torch.Tensor, bag: torch.Tensor, count
) -> torch.Tensor:
    """Returns rows of a table, each times the query of the position that it is for, (M,).

    Args:
        query: (N, k), of the positions.
        table: (W, k), W at most 32,767.
        rows: (M,) int64, rows of the table.
        bag: (M,) int64, whose each is, in order.
        count: (N,) int64, how many each position has.
    """
    return _Products.apply(query, table, rows, bag, count.cumsum(0) - count)


class _Sums(torch.autograd.Function):
    @staticmethod
    def forward(ctx, table, rows):
        ctx.save_for_backward(rows)
        ctx.width = len(table)
        return torch.nn.functional.embedding_bag(rows, table, mode="sum")

    @staticmethod
    def backward(ctx, gradient):  # type: ignore[override]  # one output
        (rows,) = ctx.saved_tensors
        each = torch.arange(len(rows), device=rows.device).repeat_interleave(rows.shape[1])
        return _by_row(gradient, rows.flatten(), each, ctx.width, None), None


class _Products(torch.autograd.Function):
    @staticmethod
    def forward(ctx, query, table, rows, bag, first):
        ctx.save_for_backward(query, table, rows, bag, first)
        # A bag that weighs its rows has, as the gradient of the weights, just this product.
        product = torch.ops.aten._embedding_bag_per_sample_weights_backward
        return product(query, table, rows, first, bag, _SUM)

    @staticmethod
    def backward(ctx, gradient):  # type: ignore[override]  # one output
        query, table, rows, bag, first = ctx.saved_tensors
        by_query, *_ = torch.embedding_bag(table, rows, first, False, _SUM, False, gradient)
        by_table = _by_row(query, rows, bag, len(table), gradient)
        return by_query, by_table, None, None, None


def _by_row(vectors, rows, bag, width: int, weights) -> torch.Tensor:
    """Adds up, for every row of a table, the vectors of the bags that it is in, (W, k).

    That is a bag for each row of the table: its list is the other one, sorted.
    """
    ordered, order = rows.to(torch.int16).sort(stable=True)
    every = torch.arange(width, dtype=torch.int16, device=rows.device)
    first = torch.searchsorted(ordered, every)
    weights = None if weights is None else weights[order]
    return torch.embedding_bag(vectors, bag[order], first, False, _SUM, False, weights)[0]
