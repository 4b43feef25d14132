"""What all our vector environments share, whatever is played: what they take and refuse."""

import abc

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from rungs.arguments import integer
from rungs.errors import ConfigurationError
from rungs.memory import on_host


class BatchEnv(VectorEnv, abc.ABC):
    """A vector environment that is stepped as one.

    Attributes:
        num_envs: how many.
        autoreset_mode: when the next episode begins.
        _begun: whether a reset came before.
        _ended: (N,) bool, where the last step ended an episode.
        _num_ended: in how many.
    """

    def _describe(
        self,
        autoreset_mode: AutoresetMode,
        observation_space: gymnasium.Space,
        action_space: gymnasium.Space,
    ) -> None:
        """Takes the mode and the spaces of one environment; `num_envs` is set."""
        self.autoreset_mode = autoreset_mode
        self.metadata = {"autoreset_mode": autoreset_mode}
        self.single_observation_space = observation_space
        self.single_action_space = action_space
        self.observation_space = batch_space(observation_space, self.num_envs)
        self.action_space = batch_space(action_space, self.num_envs)
        self._num_ended = 0
        self._begun = False

    def checked(self, actions, *before: int) -> np.ndarray:
        """`actions` as (*before, N) int64, copied only where they are of another kind.

        Raises:
            ConfigurationError: they have a wrong shape or dtype.
        """
        actions = np.asarray(actions)
        if actions.shape != (*before, self.num_envs):
            expected = (*before, self.num_envs)
            raise ConfigurationError(f"actions have shape {actions.shape}, not {expected}")
        if actions.dtype == np.int64 and actions.flags.carray:
            return actions
        if actions.dtype.kind not in "iu" or actions.dtype == np.uint64:
            raise ConfigurationError(f"actions have dtype {actions.dtype}, not int64")
        return np.array(actions, np.int64, order="C")

    def _checked_steps(self, steps: int) -> int:
        """How many `step_many` takes, where it can."""
        self._check_begun("step_many")
        if self.autoreset_mode == AutoresetMode.DISABLED:
            raise ConfigurationError("step_many needs episodes to follow each other: not DISABLED")
        return integer("steps", steps, 1, 2**31 - 1)

    def _refuse_ended(self) -> None:
        if self.autoreset_mode == AutoresetMode.DISABLED and self._num_ended:
            boards = ", ".join(map(str, np.flatnonzero(on_host(self._ended))))
            raise gymnasium.error.ResetNeeded(
                f'boards {boards} have ended: call reset(options={{"reset_mask": ...}}) first'
            )

    @property
    def _stays_ended(self) -> np.ndarray:
        """(N,) bool: boards that have ended and not begun again."""
        if self.autoreset_mode == AutoresetMode.SAME_STEP:
            return np.zeros(self.num_envs, np.bool_)
        return on_host(self._ended)

    def _reset_mask(self, seed: int | None, options: dict) -> np.ndarray | None:
        unknown = ", ".join(str(name) for name in options if name != "reset_mask")
        if unknown:
            raise ConfigurationError(f"unknown reset options: {unknown}")
        which = options.get("reset_mask")
        if which is None:
            return None
        if not isinstance(which, np.ndarray) or which.dtype != np.bool_:
            raise ConfigurationError("reset_mask is not an array of bool")
        if which.shape != (self.num_envs,):
            raise ConfigurationError(f"reset_mask has shape {which.shape}, not ({self.num_envs},)")
        if seed is not None or not self._begun:
            raise ConfigurationError("reset_mask begins next episodes: first reset without it")
        return np.ascontiguousarray(which)

    def _check_open(self) -> None:
        if self.closed:
            raise gymnasium.error.ClosedEnvironmentError("the environment is closed")

    def _check_begun(self, method: str) -> None:
        self._check_open()
        if not self._begun:
            raise gymnasium.error.ResetNeeded(f"call reset() before {method}()")
