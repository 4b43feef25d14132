"""A network's memory as C++ sees it, `rungs::learn::Model`.

NumPy owns all the memory, which PyTorch's tensors share; C++ gets addresses and never
allocates.
"""

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import nn

from rungs._src.core.memory import zeroed_lines
from rungs._src.native.abi import Api, described

# What C++ keeps transposed: its rows are what a piece on a square adds.
_TRANSPOSED = "squares.weight"


class Memory:
    """A network's weights, gradients and moments, and the struct that C++ reads.

    Args:
        api: the functions of `cpp/bindings/learn.cpp`, of `rungs._src.native`.
        network: a `PolicyValueNetwork` of the sizes that C++ has, whose weights there is room for.
        bfloat16: whether products take numbers rounded to it, of a network of float32.

    Attributes:
        weights: by parameters' names, tensors of their shapes in this memory.
        gradients, first_moments, second_moments: likewise.
        address: of the struct.
    """

    def __init__(self, api: Api, network: nn.Module, bfloat16: bool):
        self._api, self._shapes = api, {n: w.shape for n, w in network.named_parameters()}
        self.dtype = next(network.parameters()).dtype
        precision = 2 if bfloat16 else self.dtype.itemsize
        units = -(-api.rungs_learn_weights() // api.rungs_learn_unit())
        self._flat = [self._numbers(units * api.rungs_learn_unit()) for _ in range(4)]
        self.weights, self.gradients, self.first_moments, self.second_moments = (
            dict(self._views(flat)) for flat in self._flat
        )
        self._touched = np.zeros(units, np.uint8)
        self._prepared = zeroed_lines(api.rungs_learn_prepared_bytes(precision))
        self._workspace, self._rows = zeroed_lines(0), 0
        structures = described(api).structures
        weights, gradient, first, second = (flat.data_ptr() for flat in self._flat)
        parameters = structures["Parameters"](
            weights=weights,
            gradient=gradient,
            first_moment=first,
            second_moment=second,
            touched=self._touched,
        )
        self._model: Any = structures["Model"](
            precision=precision, parameters=parameters, prepared=self._prepared, workspace=None
        )
        self.address = ctypes.addressof(self._model)

    def make_room(self, rows: int) -> None:
        """Enlarges the workspace to a minibatch of `rows` rows, if it is smaller."""
        if rows > self._rows:
            size = self._api.rungs_learn_workspace_bytes(self.dtype.itemsize, rows)
            self._workspace, self._rows = zeroed_lines(size), rows
            self._model.workspace = self._workspace.ctypes.data

    def _numbers(self, count: int) -> torch.Tensor:
        """Returns zeros that begin on a cache line."""
        lines = zeroed_lines(count * self.dtype.itemsize)
        return torch.from_numpy(lines).view(self.dtype)

    def _views(self, flat: torch.Tensor) -> Iterator[tuple[str, torch.Tensor]]:
        """Names the parts of a row of numbers, a tensor after the other as PyTorch lists them."""
        at = 0
        for name, shape in self._shapes.items():
            part = flat[at : at + shape.numel()]
            yield name, part.view(shape[::-1]).T if name == _TRANSPOSED else part.view(shape)
            at += shape.numel()
