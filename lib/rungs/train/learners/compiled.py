"""A network that C++ computes, in memory of our own (`cpp/learn`), whatever it learns from."""

import ctypes
import functools
from collections.abc import Iterator

import numpy as np
import torch

from rungs.chess.buffers import MOST_LISTED
from rungs.chess.observation import OBSERVATIONS
from rungs.compile import loader
from rungs.compile.team import thread_count, workers_of
from rungs.errors import ConfigurationError, UnavailableError
from rungs.train.learners.native import AdamSettings, Memory
from rungs.train.network import LegalActionNetwork, PolicyValueNetwork

EPS = 1e-5
_BETAS = (0.9, 0.999)
_PARTS = 4  # of a loss


class CppNetwork:
    """A network whose every number C++ computes.

    Results are the same, bit for bit, with any number of threads.

    Args:
        network: a `PolicyValueNetwork` of the usual sizes, in float32, or in float64, and then
            everything is computed in that. Its parameters are in memory that C++ shares from now
            on, and may be changed by PyTorch.
        bfloat16: whether what products multiply is rounded to it. Sums, and all else, stay float32.
        compiler: who compiles the C++, see `rungs.compile.loader.load_learn`.
        threads: that compute it; by default as many as PyTorch has (`torch.get_num_threads()`).

    Raises:
        ConfigurationError: the network is another, or `threads` is wrong.
        UnavailableError: the processor, or what the C++ was compiled for, has no products of
            bfloat16.
        CompilerError: the C++ can't be compiled.

    Attributes:
        network: the network.
        api: the functions of `cpp/bindings/learn.hpp`.
        memory: where its numbers are.
        dtype: of these, as NumPy names it.
        steps: how often its weights were moved.
    """

    def __init__(
        self,
        network: LegalActionNetwork,
        *,
        bfloat16: bool = False,
        compiler: str | None = None,
        threads: int | None = None,
    ):
        _check(network, bfloat16)
        self.network = network
        self._threads = None if threads is None else thread_count(threads)
        self.api = loader.load_learn(compiler)
        self._with_team = loader.load()  # whose team serves both: threads stay awake in between
        if bfloat16 and not self.api.rungs_learn_has_bfloat16():
            raise UnavailableError("the C++ was compiled for no products of bfloat16 (AVX512-BF16)")
        self.memory = Memory(self.api, network, bfloat16)
        self.dtype = np.dtype(f"f{self.memory.dtype.itemsize}")
        self.steps = 0
        self._prepared = -1

    def evaluate(
        self, observation: np.ndarray, actions: np.ndarray, counts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Scores positions' legal actions, as an evaluator of `rungs.search`.

        Args:
            observation: (B, 72) int8, of `obs="board"`.
            actions: (B, 218) int16, the legal ones.
            counts: (B,) int16, how many those are.

        Returns:
            Logits (B, K), of which row b's first `counts[b]` mean something and K is the most of
            these; and values (B,), cut at -1 and 1; of the network's dtype.

        Raises:
            ConfigurationError: an array has another shape or dtype, or a count is beyond 218.
        """
        rows, width = len(observation), int(counts.max(initial=1))
        _check_leaves(rows, width, observation=observation, actions=actions, counts=counts)
        logits, values = np.empty((rows, width), self.dtype), np.empty(rows, self.dtype)
        arrays = (observation, actions, counts)
        contiguous = [np.ascontiguousarray(array) for array in arrays]
        self.play(
            self.api.rungs_learn_evaluate,
            *(array.ctypes.data for array in contiguous),
            *(rows, width, logits.ctypes.data, values.ctypes.data),
        )
        return logits, values.clip(-1, 1, out=values)

    def play(self, function, *arguments: int) -> None:
        """Calls a function that needs the weights as they are now, made ready for products."""
        # PyTorch counts the changes that are made by it, as by whoever loads other weights.
        changes = sum(weights._version for weights in self.network.parameters())
        if changes != self._prepared:
            self._call(self.api.rungs_learn_prepare)
            self._prepared = changes
        self._call(function, *arguments)

    def differentiate(self, function, minibatch: ctypes.Structure) -> tuple[float, ...]:
        """Has the gradients of a minibatch's mean loss computed; returns the loss's parts.

        Args:
            function: of a loss: `rungs_learn_gradients`, `rungs_learn_search_gradients`.
            minibatch: what it is called with.
        """
        self.memory.make_room(minibatch.positions.rows)
        parts = (ctypes.c_double * _PARTS)()
        self._call(function, ctypes.addressof(minibatch), ctypes.addressof(parts))
        return tuple(parts)

    def step(self, learning_rate: float, max_grad_norm: float) -> None:
        """Scales the gradients down to a norm, and moves the weights by Adam."""
        self.steps += 1
        adam = AdamSettings(learning_rate, EPS, max_grad_norm, self.steps)
        self._call(self.api.rungs_learn_step, ctypes.addressof(adam))
        self._prepared = -1

    def optimizer_state(self, learning_rate: float) -> dict:
        """Returns the moments as `rungs.train.adam.Adam.state_dict` names them."""
        state = {i: moments for i, moments in enumerate(self._moments())} if self.steps else {}
        settings = {"lr": learning_rate, "betas": _BETAS, "eps": EPS}
        return {"state": state, "param_groups": [settings]}

    def load(self, network: dict, optimizer: dict) -> None:
        """Goes on with weights and moments, which fit."""
        self.network.load_state_dict(network)
        state = optimizer["state"]
        for i, ours in enumerate(self._moments()):
            for name in ("exp_avg", "exp_avg_sq"):
                ours[name].copy_(state[i][name]) if state else ours[name].zero_()
        self.steps = int(state[0]["step"]) if state else 0
        self.api.rungs_learn_wake(self.memory.address)

    def _moments(self) -> Iterator[dict[str, torch.Tensor]]:
        """Names the optimizer's moments as `rungs.train.adam.Adam` does, parameter by parameter."""
        memory = self.memory
        for name in memory.first_moments:
            yield {
                "step": torch.tensor(float(self.steps)),
                "exp_avg": memory.first_moments[name],
                "exp_avg_sq": memory.second_moments[name],
            }

    def _call(self, function, *arguments: int) -> None:
        threads = self._threads or torch.get_num_threads()
        function(self.memory.address, *arguments, *workers_of(self._with_team, threads))


def _check(network: LegalActionNetwork, bfloat16: bool) -> None:
    """Refuses what C++ has no code for.

    Raises:
        ConfigurationError: it names the offender.
    """
    ours = {name: weights.shape for name, weights in network.named_parameters()}
    dtypes = {weights.dtype for weights in network.parameters()}
    if type(network) is not PolicyValueNetwork or ours != _shapes():
        raise ConfigurationError(
            "learner='cpp' has code for a PolicyValueNetwork of 128 units only"
        )
    if len(dtypes) > 1 or not dtypes <= {torch.float32, torch.float64}:
        raise ConfigurationError(f"learner='cpp' learns in float32 or float64, not in {dtypes}")
    if bfloat16 and dtypes != {torch.float32}:
        raise ConfigurationError("bfloat16 products are of a network in float32")


def _check_leaves(rows: int, most: int, **arrays: np.ndarray) -> None:
    """Refuses what C++ would read past.

    Raises:
        ConfigurationError: it names the offender.
    """
    seen, numbers = OBSERVATIONS["board", "int8"]
    wanted: dict[str, tuple[tuple[int, ...], type]] = {
        "observation": ((rows, *seen), numbers),
        "actions": ((rows, MOST_LISTED), np.int16),
        "counts": ((rows,), np.int16),
    }
    for name, (shape, dtype) in wanted.items():
        found = arrays[name]
        if found.shape != shape or found.dtype != dtype:
            raise ConfigurationError(
                f"{name}: shape {found.shape} and dtype {found.dtype}, not {shape} and "
                f"{dtype.__name__}"
            )
    if most > MOST_LISTED:
        raise ConfigurationError(f"counts: {most} actions, of a list of {MOST_LISTED}")


@functools.cache
def _shapes() -> dict[str, torch.Size]:
    """Returns the shapes of the parameters of the network that C++ has."""
    with torch.device("meta"):  # without memory, and nothing is drawn at random
        network = PolicyValueNetwork()
    return {name: weights.shape for name, weights in network.named_parameters()}
