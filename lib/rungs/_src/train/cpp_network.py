"""A network that C++ computes (`cpp/learn`), for PPO and self-play, and its memory.

NumPy owns the memory, which PyTorch's tensors share; C++ gets addresses and never allocates.
"""

import ctypes
import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import nn

from rungs._src.chess.buffers import MAX_LEGAL
from rungs._src.chess.observation import OBSERVATIONS
from rungs._src.core.arguments import shown
from rungs._src.core.exclusive import Uncopyable
from rungs._src.core.memory import zeroed_lines
from rungs._src.native import loader
from rungs._src.native.abi import Api, described
from rungs._src.search.search import RefreshedEvaluator
from rungs._src.threads.pool import thread_count, workers_of
from rungs._src.train.layers import DenseSquares, SparseSquares
from rungs._src.train.network import LegalActionNetwork, PolicyValueNetwork
from rungs.errors import ConfigurationError

# C++ stores it transposed, with a row for each piece on each square.
_TRANSPOSED = "squares.weight"


class CppNetwork(Uncopyable):
    """A network that C++ computes.

    Results are the same, bit for bit, with any number of threads. Each call computes with the
    network's current weights, however they were changed; a `Search.run` reads them once, as it
    begins.

    C++ reads weights in memory of its own: those that have changed since the last call are copied
    to it. To find them all weights are compared, 6 MB, unless the network is frozen.

    Args:
        network: a `PolicyValueNetwork` of the usual sizes on the CPU, in float32 or float64;
            everything is computed in its dtype.
        bfloat16: whether factors of products are rounded to bfloat16, which AMX multiplies where
            processor and system have it, else AVX512-BF16. Sums, and all else, stay float32.
        compiler: the compiler of the C++, see `rungs._src.native.loader.load_learn`.
        threads: how many compute; by default as many as PyTorch has (`torch.get_num_threads()`).
        frozen: whether all calls compute with the weights of now, whatever becomes of the network.
            With `bfloat16` its first layer is rounded to it, too.

    Raises:
        ConfigurationError: C++ has no code for the network, or `threads` is wrong.
        UnavailableError: the processor, or the target that the C++ was compiled for, has no
            products of bfloat16.
        CompilerError: the C++ can't be compiled.

    Attributes:
        network: the network.
        api: the functions of `cpp/bindings/learn.cpp`.
        structures: the structs of C++, by name.
        memory: the memory that C++ reads.
        dtype: of the network, as NumPy names it.
        bfloat16_unit: what multiplies bfloat16, "AMX" or "AVX512-BF16", whose results differ in
            their last bits; None without `bfloat16`.

    Weights may change, move or be exchanged between calls; layers, their constants and hooks must
    stay as they were at the first.
    """

    _instead = "CppNetwork(network) makes another"

    def __init__(
        self,
        network: LegalActionNetwork,
        *,
        bfloat16: bool = False,
        compiler: str | None = None,
        threads: int | None = None,
        frozen: bool = False,
    ):
        _check(network, bfloat16)
        self.network, self._bfloat16 = network, bfloat16
        self._threads = None if threads is None else thread_count(threads)
        self.api = loader.load_learn(compiler)
        # One pool for both libraries: its threads stay awake in between.
        self._with_pool = loader.load()
        self.bfloat16_unit = loader.bfloat16_unit(self.api) if bfloat16 else None
        self.structures = described(self.api).structures
        self.memory = Memory(self.api, network, self.bfloat16_unit)
        self.dtype = np.dtype(f"f{self.memory.dtype.itemsize}")
        self._memory_locations = [_location(weights) for weights in self.memory.weights.values()]
        self._external: tuple[list, list[_External]] = [], []  # all locations, and these
        self._frozen = False
        if frozen:
            self.refresh()
            if bfloat16:
                self.memory.make_square_rows()
                self._call(self.api.rungs_learn_round_squares)
            self._frozen, self._external = True, ([], [])

    @property
    def evaluate(self) -> RefreshedEvaluator:
        """Scores positions' legal actions, as an evaluator of `rungs.search`.

        Args:
            observation: (B, 72) int8, of `obs="board"`.
            actions: (B, 218) int16, the legal ones.
            counts: (B,) int16, how many those are.

        Returns:
            Logits (B, K), of which row b's first `counts[b]` are set and K is the largest count;
            and values (B,), clipped to [-1, 1]; both of the network's dtype.

        Raises:
            ConfigurationError: an array has a wrong shape or dtype; or a position has something
                else than pieces, a count beyond 218, or an id that no action has. Or the network
                is no longer one that C++ has code for.
        """
        return RefreshedEvaluator(self.refresh, self._evaluate)

    def refresh(self) -> None:
        """Reads the network's current weights and prepares them for products; not if frozen.

        Raises:
            ConfigurationError: the network is no longer one that C++ has code for.
        """
        if self._frozen:
            return
        for external in self._external_parameters():
            external.refresh()
        self._call(self.api.rungs_learn_refresh)

    def _evaluate(
        self, observation: np.ndarray, actions: np.ndarray, counts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Evaluates leaves with the weights of the last `refresh`."""
        _check_leaves(observation=observation, actions=actions, counts=counts)
        rows, width = len(observation), int(counts.max(initial=1))
        if width > MAX_LEGAL:
            raise ConfigurationError(f"counts: {width} actions, of a list of {MAX_LEGAL}")
        logits, values = np.empty((rows, width), self.dtype), np.empty(rows, self.dtype)
        arrays = (observation, actions, counts)
        contiguous = [np.ascontiguousarray(array) for array in arrays]
        self._read(
            self.api.rungs_learn_evaluate,
            *(array.ctypes.data for array in contiguous),
            *(rows, width, logits.ctypes.data, values.ctypes.data),
        )
        return logits, values.clip(-1, 1, out=values)

    def _external_parameters(self) -> list["_External"]:
        """Returns the parameters that don't lie in the memory."""
        locations = _locations(self.network, [])
        if locations == self._memory_locations:
            return []
        if locations != self._external[0]:
            _check(self.network, self._bfloat16)
            weights, named = self.memory.weights, dict(self.network.named_parameters())
            if (dtype := named["value.bias"].dtype) != self.memory.dtype:
                raise ConfigurationError(
                    f"network: it was of {self.memory.dtype}, and is of {dtype}"
                )
            memory = weights["value.bias"].untyped_storage().data_ptr()
            for name, parameter in named.items():
                # Two parameters were exchanged, or one was transposed in place: give it storage of
                # its own before it is moved back.
                in_memory = parameter.untyped_storage().data_ptr() == memory
                if in_memory and _location(parameter) != _location(weights[name]):
                    parameter.data = parameter.detach().clone()
            locations = _locations(self.network, [])
            external = [_External(weights[name], parameter) for name, parameter in named.items()]
            self._external = locations, external
        return self._external[1]

    def _read(self, function, *arguments: int) -> None:
        """Calls a function that reads positions; raises ConfigurationError if one is invalid."""
        position = self._call(function, *arguments)
        if position >= 0:
            raise ConfigurationError(
                f"position {position} can't be read: it has no legal action or more than "
                f"{MAX_LEGAL}, an invalid action, or something other than a piece on a square"
            )

    def _call(self, function, *arguments: int) -> int:
        threads = self._threads or torch.get_num_threads()
        workers = workers_of(self._with_pool, threads, fewer=self._threads is None)
        return function(self.memory.address, *arguments, *workers)


def flat_weights(network: LegalActionNetwork) -> np.ndarray:
    """Returns all weights of a network, one after the other as `rungs.h` lists them.

    Args:
        network: see `CppNetwork`.

    Returns:
        (1537665,) of the network's dtype.

    Raises:
        ConfigurationError: the network is one that C++ has no code for.
    """
    _check(network, bfloat16=False)
    parts = (
        weights.detach().T if name == _TRANSPOSED else weights.detach()
        for name, weights in network.named_parameters()
    )
    return np.concatenate([part.numpy().ravel() for part in parts])


class Memory:
    """A network's parameters, gradients and moments in memory that C++ reads, and the struct of it.

    With a unit of bfloat16 products take factors rounded to it, of a network of float32.
    """

    def __init__(self, api: Api, network: nn.Module, bfloat16_unit: str | None):
        self._api, self._shapes = api, {n: w.shape for n, w in network.named_parameters()}
        self.dtype = next(network.parameters()).dtype
        precision = 2 if bfloat16_unit else self.dtype.itemsize
        units = -(-api.rungs_learn_weights() // api.rungs_learn_unit())
        self._flat = [self._numbers(units * api.rungs_learn_unit()) for _ in range(4)]
        self.weights, self.gradients, self.first_moments, self.second_moments = (
            dict(self._views(flat)) for flat in self._flat
        )
        self._touched, self._cleared = np.zeros((2, units), np.uint8)
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
            cleared=self._cleared,
        )
        self._model: Any = structures["Model"](
            precision=precision,
            amx=bfloat16_unit == "AMX",
            parameters=parameters,
            prepared=self._prepared,
            workspace=None,
            square_rows=None,
        )
        self.address = ctypes.addressof(self._model)

    def make_room(self, rows: int) -> None:
        """Enlarges the workspace to a minibatch of `rows` rows, if it is smaller."""
        if rows > self._rows:
            size = self._api.rungs_learn_workspace_bytes(self.dtype.itemsize, rows)
            self._workspace, self._rows = zeroed_lines(size), rows
            self._model.workspace = self._workspace.ctypes.data

    def make_square_rows(self) -> None:
        """Allocates the rows of a frozen network's squares, of bfloat16."""
        self._square_rows = zeroed_lines(2 * self.weights["attacked.weight"].numel())
        self._model.square_rows = self._square_rows.ctypes.data

    def _numbers(self, count: int) -> torch.Tensor:
        """Returns zeros that begin on a cache line."""
        lines = zeroed_lines(count * self.dtype.itemsize)
        return torch.from_numpy(lines).view(self.dtype)

    def _views(self, flat: torch.Tensor) -> Iterator[tuple[str, torch.Tensor]]:
        """Yields each parameter's name and its part of a flat tensor, in PyTorch's order."""
        at = 0
        for name, shape in self._shapes.items():
            part = flat[at : at + shape.numel()]
            yield name, part.view(shape[::-1]).T if name == _TRANSPOSED else part.view(shape)
            at += shape.numel()


class _External:
    """A parameter outside C++'s memory, and its location there."""

    def __init__(self, place: torch.Tensor, parameter: nn.Parameter):
        self.place, self.parameter = place, parameter
        self._bytes = parameter.numel() * parameter.element_size()
        self._last: torch.Tensor | None = None

    def refresh(self) -> None:
        """Copies the values there, if they have changed since the last call."""
        last, current = self._last, self.parameter.detach()
        # They may change without PyTorch's knowledge, so their bytes are compared.
        same = last is not None and last.stride() == current.stride()
        if same and not _memcmp(last.data_ptr(), current.data_ptr(), self._bytes):  # type: ignore[union-attr]  # not None
            return
        self._last = current.clone()
        self.place.copy_(current)


_memcmp = ctypes.CDLL(None).memcmp
_memcmp.argtypes = ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t


def _location(tensor: torch.Tensor) -> tuple:
    """Returns where numbers are in memory, and how they lie there."""
    return tensor.data_ptr(), tensor.dtype, tensor.shape, tensor.stride()


def _locations(module: nn.Module, locations: list) -> list:
    """Appends the `_location` of each of a module's parameters, None for a missing one.

    `Module.parameters` takes ten times as long, and this is called at each step of all games.
    """
    for parameter in module._parameters.values():
        locations.append(parameter if parameter is None else _location(parameter))
    for submodule in module._modules.values():
        if submodule is not None:
            _locations(submodule, locations)
    return locations


def _check(network: LegalActionNetwork, bfloat16: bool) -> None:
    """Rejects networks that C++ has no code for."""
    shapes, parts = _reference()
    if type(network) is not PolicyValueNetwork or (
        {name: weights.shape for name, weights in network.named_parameters()} != shapes
    ):
        raise ConfigurationError(
            f"learner='cpp' has code for a PolicyValueNetwork of 128 units only, not for "
            f"network={shown(network)}"
        )
    if _parts(network) != parts:
        raise ConfigurationError(
            "learner='cpp' has code for the layers of a PolicyValueNetwork as they are made, "
            "without hooks, and not for others in their place"
        )
    dtypes = {weights.dtype for weights in network.parameters()}
    devices = {(weights.device.type, weights.layout) for weights in network.parameters()}
    if devices != {("cpu", torch.strided)}:
        raise ConfigurationError(f"learner='cpp' learns on the CPU, not a network on {devices}")
    if len(dtypes) > 1 or not dtypes <= {torch.float32, torch.float64}:
        raise ConfigurationError(f"learner='cpp' learns in float32 or float64, not in {dtypes}")
    if bfloat16 and dtypes != {torch.float32}:
        raise ConfigurationError("bfloat16 products are of a network in float32")


def _check_leaves(**arrays: np.ndarray) -> None:
    """Rejects arrays of other shapes or dtypes than C++ reads."""
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray) or not array.ndim:
            raise ConfigurationError(f"{name}={shown(array)} is not an array of a row per position")
    rows, (board_shape, board_dtype) = len(arrays["observation"]), OBSERVATIONS["board", "int8"]
    wanted: dict[str, tuple[tuple[int, ...], type]] = {
        "observation": ((rows, *board_shape), board_dtype),
        "actions": ((rows, MAX_LEGAL), np.int16),
        "counts": ((rows,), np.int16),
    }
    for name, (shape, dtype) in wanted.items():
        array = arrays[name]
        if array.shape != shape or array.dtype != dtype:
            raise ConfigurationError(
                f"{name}: shape {array.shape} and dtype {array.dtype}, not {shape} and "
                f"{dtype.__name__}"
            )


def _parts(network: PolicyValueNetwork) -> list[tuple]:
    """Returns a description of a network's layers, the same for both kinds of a first layer."""
    return [
        (
            nn.Linear if type(part) in (DenseSquares, SparseSquares) else type(part),
            part.extra_repr(),
            len(part._forward_hooks) + len(part._forward_pre_hooks),
        )
        for part in network.modules()
    ]


@functools.cache
def _reference() -> tuple[dict[str, torch.Size], list[tuple]]:
    """Returns the shapes of the parameters of the network that C++ has, and its `_parts`."""
    # Not on the device "meta", where PyTorch would import its compiler, which takes a second.
    with torch.device("cpu"), torch.random.fork_rng(devices=[]):
        network = PolicyValueNetwork()
    return {name: weights.shape for name, weights in network.named_parameters()}, _parts(network)
