"""Gymnasium's own CartPole, whose episodes start where ours do, and what its rungs share."""

import functools
from typing import Any

import numpy as np
from gymnasium.envs.classic_control.cartpole import CartPoleEnv

from rungs._src.cartpole.carts.arrays import Arrays
from rungs._src.cartpole.carts.carts import Carts
from rungs._src.cartpole.physics import physics
from rungs._src.cartpole.settings import CartPoleSettings
from rungs._src.core.philox import Purpose, words
from rungs.errors import ConfigurationError

_PHYSICS = physics()


class OneCartPole(CartPoleEnv):
    """Gymnasium's, with the counter-based start, the limit of steps, and finer steps if asked.

    Args:
        number: this environment's among all.
        max_episode_steps: when an episode is truncated.
        workload: in how many steps of Euler's method a step is taken.
    """

    def __init__(self, number: int, max_episode_steps: int, workload: int):
        super().__init__()
        self._batch_seed, self._number = 0, number
        self._most, self._workload = max_episode_steps, workload
        self.tau /= workload
        self.episode, self.steps = -1, 0

    def begin(self, seed: int, episode: int) -> np.ndarray:
        """Begins an episode and returns the observation."""
        self._batch_seed, self.episode, self.steps = seed, episode, 0
        drawn = words(seed, self._number, episode, 0, Purpose.CARTPOLE_START)
        self.state = np.array([_PHYSICS.start(word) for word in drawn])
        self.steps_beyond_terminated = None
        return self.state.astype(np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict | None = None
    ) -> tuple[np.ndarray, dict]:
        """Begins the next episode, whatever the arguments: only the batch has a seed."""
        return self.begin(self._batch_seed, self.episode + 1), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict]:
        """See gymnasium."""
        for _ in range(self._workload):
            self.steps_beyond_terminated = None
            observation, reward, terminated, _, _ = super().step(action)
        self.steps += 1
        truncated = self.steps >= self._most
        # Told twice, as Stable-Baselines3 hands on only one of the two.
        info = {"terminated": terminated, "truncated": truncated}
        return observation, reward, terminated, truncated, info


class OneByOneCarts(Carts):
    """A batch of `OneCartPole`s, whoever steps them. See `Carts` for arguments.

    Attributes:
        makers: a function for each, that makes it.
        arrays: their outputs, and room for what `dump` gives.

    Raises:
        ConfigurationError: another `dtype`.
    """

    def __init__(self, num_envs: int, first_env: int, settings: CartPoleSettings):
        super().__init__(num_envs, first_env, settings)
        if settings.dtype != "float64":
            raise ConfigurationError(f"dtype={settings.dtype!r}: Gymnasium's is 'float64'")
        how = (settings.max_episode_steps, settings.workload)
        self.makers = [
            functools.partial(OneCartPole, number, *how) for number in self.numbers.tolist()
        ]
        self.arrays = Arrays(num_envs, first_env, settings)
        self.outputs = self.arrays.outputs

    def begun_at(self, i: int, observation: np.ndarray) -> None:
        """Writes the outputs of an environment whose episode has just begun."""
        out = self.outputs
        out.observation[i] = observation
        out.reward[i] = out.terminated[i] = out.truncated[i] = out.ended[i] = 0
