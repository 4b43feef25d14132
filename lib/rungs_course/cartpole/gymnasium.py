"""The first rung of CartPole: Gymnasium's own environments, whose episodes start where ours do."""

from typing import Any

import numpy as np
from gymnasium.envs.classic_control.cartpole import CartPoleEnv
from gymnasium.vector import AutoresetMode

from rungs.cartpole import CartPoleSettings
from rungs.devel import Purpose, Seed, philox, physics, seed_and_number
from rungs.devel.envs import HostCarts
from rungs.errors import ConfigurationError

_PHYSICS = physics()


class OneCartPole(CartPoleEnv):
    """Gymnasium's CartPole, with counter-based starts, a step limit, and finer steps on request."""

    def __init__(self, max_episode_steps: int, workload: int):
        super().__init__()
        self._max_steps, self._workload = max_episode_steps, workload
        self.tau /= workload
        self.episode, self.steps = -1, 0

    def begin(self, seed: int, number: int, episode: int) -> np.ndarray:
        """Begins an episode of a seed and a number, and returns the observation."""
        self.episode, self.steps = episode, 0
        start_words = philox.words(seed, number, episode, 0, Purpose.CARTPOLE_START)
        self.state = np.array([_PHYSICS.start(word) for word in start_words])
        self.steps_beyond_terminated = None
        return self.state.astype(np.float32)

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict]:
        """See gymnasium."""
        for _ in range(self._workload):
            self.steps_beyond_terminated = None
            observation, reward, terminated, _, _ = super().step(action)
        self.steps += 1
        return observation, reward, terminated, self.steps >= self._max_steps, {}


class GymnasiumCarts(HostCarts):
    """A loop over Gymnasium's `CartPoleEnv`; `dtype` is "float64".

    Its sine and cosine are NumPy's, so states differ from other rungs' by a few units in the last
    place.
    """

    def __init__(self, num_envs: int, first_env: int, settings: CartPoleSettings):
        super().__init__(num_envs, first_env, settings)
        if settings.dtype != "float64":
            raise ConfigurationError(f"dtype={settings.dtype!r}: Gymnasium's is 'float64'")
        arguments = (settings.max_episode_steps, settings.workload)
        self._envs = [OneCartPole(*arguments) for _ in range(num_envs)]

    def reset(self, which: np.ndarray | None, seed: Seed, episode: int | None) -> None:
        self.seed = seed
        for i, env in enumerate(self._envs):
            if which is None or which[i]:
                self._begin(i, env.episode + 1 if episode is None else episode)

    def step(self, actions: np.ndarray) -> int:
        actions = self.accepted(actions)
        out = self.outputs
        for i, (env, action) in enumerate(zip(self._envs, actions.tolist(), strict=True)):
            if self.settings.autoreset_mode == AutoresetMode.NEXT_STEP and out.ended[i]:
                self._begin(i, env.episode + 1)
                continue
            observation, out.reward[i], out.terminated[i], out.truncated[i], _ = env.step(action)
            out.ended[i] = out.terminated[i] or out.truncated[i]
            if out.ended[i] and self.settings.autoreset_mode == AutoresetMode.SAME_STEP:
                out.final_observation[i] = observation
                observation = self._start(i, env.episode + 1)
            out.observation[i] = observation
        return int(out.ended.sum())

    def _begin(self, i: int, episode: int) -> None:
        """Begins an environment's episode, and writes its first outputs."""
        out = self.outputs
        out.observation[i] = self._start(i, episode)
        out.reward[i] = out.terminated[i] = out.truncated[i] = out.ended[i] = 0

    def _start(self, i: int, episode: int) -> np.ndarray:
        return self._envs[i].begin(*seed_and_number(self.seed, i, self.first_env), episode)

    def dump(self) -> dict:
        for i, env in enumerate(self._envs):
            self.state[:, i] = env.state
            self.steps[i], self.episode[i] = env.steps, env.episode
        return super().dump()

    def load(self, arrays: dict, seed: Seed) -> None:
        super().load(arrays, seed)
        for i, env in enumerate(self._envs):
            self._start(i, int(self.episode[i]))
            env.state, env.steps = self.state[:, i].copy(), int(self.steps[i])
