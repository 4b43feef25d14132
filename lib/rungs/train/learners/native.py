"""A network's memory as C++ sees it: the structs of `cpp/learn`, field by field.

NumPy owns all the memory, which PyTorch's tensors share; C++ gets addresses and never
allocates.
"""

import ctypes
import functools
from collections.abc import Iterator

import numpy as np
import torch
from torch import nn

from rungs.compile import layout
from rungs.compile.functions import Api
from rungs.core.memory import zeroed_lines

# What C++ keeps transposed: its rows are what a piece on a square adds.
_TRANSPOSED = "squares.weight"


class Parameters(ctypes.Structure):
    """`rungs::learn::Parameters`."""

    _fields_ = (
        ("weights", ctypes.c_void_p),
        ("gradient", ctypes.c_void_p),
        ("first_moment", ctypes.c_void_p),
        ("second_moment", ctypes.c_void_p),
        ("touched", ctypes.c_void_p),
    )


class Model(ctypes.Structure):
    """`rungs::learn::Model`."""

    _fields_ = (
        ("precision", ctypes.c_int64),
        ("parameters", Parameters),
        ("prepared", ctypes.c_void_p),
        ("workspace", ctypes.c_void_p),
    )


class Sampling(ctypes.Structure):
    """`rungs::learn::Sampling`."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("observation", "action", "count", "uniform")),
        *((name, ctypes.c_void_p) for name in ("chosen", "choice", "log_probability", "value")),
        ("rows", ctypes.c_int64),
    )


class BatchPositions(ctypes.Structure):
    """`rungs::learn::BatchPositions`."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("observation", "action", "count", "row")),
        ("rows", ctypes.c_int64),
    )


class PpoBatch(ctypes.Structure):
    """`rungs::learn::PpoBatch`."""

    _fields_ = (
        ("positions", BatchPositions),
        *(
            (name, ctypes.c_void_p)
            for name in ("choice", "old_log_probability", "advantage", "returns")
        ),
        *((name, ctypes.c_double) for name in ("clip_coef", "vf_coef", "ent_coef")),
    )


class SearchBatch(ctypes.Structure):
    """`rungs::learn::SearchBatch`."""

    _fields_ = (
        ("positions", BatchPositions),
        *((name, ctypes.c_void_p) for name in ("policy", "outcome")),
        ("vf_coef", ctypes.c_double),
    )


class AdamSettings(ctypes.Structure):
    """`rungs::learn::AdamSettings`."""

    _fields_ = (
        *((name, ctypes.c_double) for name in ("learning_rate", "eps", "max_grad_norm")),
        ("step", ctypes.c_int64),
    )


@functools.cache
def check_layout(api: Api) -> None:
    """Makes sure that C++ sees these structs as they are here.

    Raises:
        CompilerError: it doesn't; the message names the field.
    """
    structs = (Model, Sampling, PpoBatch, SearchBatch, AdamSettings)
    layout.check(api.rungs_learn_layout, {struct.__name__: struct for struct in structs})


class Memory:
    """A network's weights, gradients and moments, and the struct that C++ reads.

    Args:
        api: the functions of `cpp/bindings/learn.hpp`, of `rungs.compile`.
        network: a `PolicyValueNetwork` of the sizes that C++ has, whose weights there is room for.
        bfloat16: whether products take numbers rounded to it, of a network of float32.

    Attributes:
        weights: by parameters' names, tensors of their shapes in this memory.
        gradients, first_moments, second_moments: likewise.
        address: of the struct.
    """

    def __init__(self, api: Api, network: nn.Module, bfloat16: bool):
        check_layout(api)
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
        self._model = Model(
            precision=precision,
            parameters=Parameters(
                *(flat.data_ptr() for flat in self._flat), touched=self._touched.ctypes.data
            ),
            prepared=self._prepared.ctypes.data,
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
        """Names the parts of a row of numbers, in the order of `cpp/learn/network.hpp`."""
        at = 0
        for name, shape in self._shapes.items():
            part = flat[at : at + shape.numel()]
            yield name, part.view(shape[::-1]).T if name == _TRANSPOSED else part.view(shape)
            at += shape.numel()
