"""The base class of our vector environments: argument checks and spaces."""

import abc
import threading
from collections.abc import Mapping
from types import ModuleType
from typing import Any, Generic, TypeVar

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike

from rungs._src.core.arguments import Seed, checked_actions, integer, seeds, shown
from rungs._src.core.exclusive import OneCaller
from rungs._src.core.memory import on_host
from rungs.errors import ConfigurationError

# A NumPy array, or a PyTorch tensor where outputs are tensors.
Array = Any
# The type of the outputs: `np.ndarray` or `torch.Tensor`.
ArrayT = TypeVar("ArrayT")


class BatchEnv(OneCaller, VectorEnv[ArrayT, Any, ArrayT], abc.ABC, Generic[ArrayT]):
    """A vector environment whose environments are stepped together.

    Attributes:
        num_envs: number of environments.
        autoreset_mode: when the next episode begins.
        device: of outputs that are tensors; else None.
        _begun: whether it has been reset.
        _ended: (N,) bool, where the last step ended an episode.
        _num_ended: how many; None where a step did not wait to count them.
    """

    device: Any = None
    _ended: Array
    _seed: Seed

    def _describe(
        self,
        autoreset_mode: AutoresetMode,
        observation_space: gymnasium.Space,
        action_space: gymnasium.Space,
    ) -> None:
        """Sets the mode and, from those of one environment, the spaces; `num_envs` must be set."""
        self.autoreset_mode = autoreset_mode
        self.metadata = {"autoreset_mode": autoreset_mode}
        self.single_observation_space = observation_space
        self.single_action_space = action_space
        self.observation_space = batch_space(observation_space, self.num_envs)
        self.action_space = batch_space(action_space, self.num_envs)
        self._num_ended: int | None = 0
        self._begun = False
        self._lock = threading.RLock()

    def checked(self, actions: ArrayLike, *before: int) -> Array:
        """Returns int64 actions of shape `before` + (N,), or raises ConfigurationError."""
        shape = (*before, self.num_envs)
        if self.device is None:
            return checked_actions(actions, shape)
        return _tensors().on_device(actions, shape, self.device)

    def _checked_steps(self, steps: int) -> int:
        self._check_begun("step_many")
        if self.autoreset_mode == AutoresetMode.DISABLED:
            raise ConfigurationError("step_many needs episodes to follow each other: not DISABLED")
        return integer("steps", steps, 1, 2**31 - 1)

    def _refuse_ended(self) -> None:
        if self.autoreset_mode == AutoresetMode.DISABLED:
            boards = ", ".join(map(str, np.flatnonzero(on_host(self._ended))))
            raise gymnasium.error.ResetNeeded(
                f'boards {boards} have ended: call reset(options={{"reset_mask": ...}}) first'
            )

    def _reset_arguments(
        self, seed: object, options: dict | None
    ) -> tuple[Array | None, Seed, bool]:
        """Returns which environments begin, their seed, and whether at its first episode."""
        self._check_open()
        which, first = self._reset_mask(seed, options), seed is not None or not self._begun
        return which, self._seed if seed is None else seeds("seed", seed, self.num_envs), first

    def _reset_mask(self, seed: object, options: dict | None) -> Array | None:
        if options is None:
            return None
        if not isinstance(options, Mapping):
            raise ConfigurationError(f"options={shown(options)} is not a dict")
        unknown = ", ".join(shown(name) for name in options if name != "reset_mask")
        if unknown:
            raise ConfigurationError(f"unknown reset options: {unknown}")
        which = options.get("reset_mask")
        if which is None:
            return None
        array = isinstance(which, np.ndarray) and not isinstance(which, np.ma.MaskedArray)
        if not array or which.dtype != np.bool_:
            raise ConfigurationError(f"reset_mask={shown(which)} is not an array of bool")
        if which.shape != (self.num_envs,):
            raise ConfigurationError(f"reset_mask has shape {which.shape}, not ({self.num_envs},)")
        if seed is not None or not self._begun:
            raise ConfigurationError("reset_mask begins next episodes: first reset without it")
        # Bytes of a bool array may have values other than 0 and 1.
        which = np.ascontiguousarray(which).view(np.uint8) != 0
        return which if self.device is None else _tensors().moved(which, self.device)

    def _check_open(self) -> None:
        if self.closed:
            raise gymnasium.error.ClosedEnvironmentError("the environment is closed")

    def _check_begun(self, method: str) -> None:
        self._check_open()
        if not self._begun:
            raise gymnasium.error.ResetNeeded(f"call reset() before {method}()")


def stays_ended(mode: AutoresetMode, ended: Array) -> np.ndarray:
    """Returns which episodes that `ended` have not begun again, as a new (N,) bool array."""
    return on_host(ended) & (mode != AutoresetMode.SAME_STEP)


def _tensors() -> ModuleType:
    from rungs._src.core import tensors  # PyTorch is needed only where outputs are tensors

    return tensors
