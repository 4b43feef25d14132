"""Our boards as Stable-Baselines3 takes them: `MaskablePPO("MlpPolicy", ChessVecEnv(64))`."""

from collections.abc import Sequence
from typing import Any

import numpy as np

import rungs
from rungs.errors import ConfigurationError, UnavailableError

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError:
    raise UnavailableError("Stable-Baselines3 is not installed: pip install 'rungs[sb3]'") from None


class ChessVecEnv(VecEnv):
    """A batch of chess games behind `stable_baselines3.common.vec_env.VecEnv`.

    All boards are stepped at once by a rung. There is no environment object for each, so what
    addresses single ones is answered for all: `env_method("action_masks")` and `get_attr`.

    Args:
        num_envs: number of boards.
        rung: which implementation steps them.
        opponent: as of `rungs.make`; here by default "random", as there is one agent to train.
        **settings: all others of `rungs.make("chess", ...)`; masks are `bool`, and episodes end
            with gymnasium's SAME_STEP, which is what Stable-Baselines3 knows.

    Raises:
        ConfigurationError: a wrong setting.
        UnavailableError: Stable-Baselines3 is not installed (when this module is imported).
    """

    def __init__(
        self, num_envs: int, rung: str = "openmp", *, opponent: Any = "random", **settings
    ):
        for fixed in {"mask", "autoreset_mode"} & settings.keys():
            raise ConfigurationError(f"{fixed} can't be set: Stable-Baselines3 knows one")
        self.env = rungs.make("chess", rung, num_envs, opponent=opponent, mask="bool", **settings)
        spaces = self.env.single_observation_space, self.env.single_action_space
        super().__init__(num_envs, *spaces)
        self._actions = None

    def action_masks(self) -> np.ndarray:
        """(N, 4672) bool, the legal actions of every board: a copy."""
        return self._mask.copy()

    def reset(self) -> np.ndarray:
        """Begins an episode on every board: episode 0 of `seed`'s, if that was called before."""
        seed = self._seeds[0]
        observation, info = self.env.reset(seed=seed)
        self._mask = info["action_mask"]
        self._reset_seeds()
        self._reset_options()
        return observation.copy()

    def step_async(self, actions: np.ndarray) -> None:
        """Keeps (N,) actions for `step_wait`."""
        self._actions = actions

    def step_wait(self):
        """Plays them.

        Returns:
            observation, reward (N,) float32, done (N,) bool, and a dict per board; where an
            episode ended it has `terminal_observation`, `TimeLimit.truncated` and `reason`.

        Raises:
            IllegalActionError: an action is not legal; no board has changed.
        """
        observation, reward, terminated, truncated, info = self.env.step(self._actions)
        self._mask = info["action_mask"]
        done = terminated | truncated
        infos = [{} for _ in range(self.num_envs)]
        for board in np.flatnonzero(done).tolist():
            infos[board] = {
                "terminal_observation": info["final_obs"][board].copy(),
                "TimeLimit.truncated": bool(truncated[board]),
                "reason": int(info["reason"][board]),
            }
        return observation.copy(), reward.copy(), done, infos

    def close(self) -> None:
        """Ends all that belongs to the boards."""
        self.env.close()

    def get_attr(self, attr_name: str, indices=None) -> list[Any]:
        """An attribute of the batch, for every board asked for.

        Raises:
            AttributeError: it has none of that name.
        """
        value = getattr(self if attr_name == "action_masks" else self.env, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices=None) -> None:
        """Not possible: settings are given when the environment is made.

        Raises:
            ConfigurationError: always.
        """
        raise ConfigurationError(f"{attr_name} can't be set: make another environment")

    def env_method(self, method_name: str, *args, indices=None, **kwargs) -> list[Any]:
        """`action_masks()`, or any method of the batch, one result per board asked for.

        Raises:
            AttributeError: there is no such method.
            ConfigurationError: its result is not one per board.
        """
        owner = self if method_name == "action_masks" else self.env
        results = getattr(owner, method_name)(*args, **kwargs)
        if not isinstance(results, Sequence | np.ndarray) or len(results) != self.num_envs:
            raise ConfigurationError(f"{method_name} does not return one result per board")
        return [results[board] for board in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class, indices=None) -> list[bool]:
        """No board is: there is none alone."""
        return [False for _ in self._get_indices(indices)]
