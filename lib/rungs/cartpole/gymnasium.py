"""The first rung of CartPole: Gymnasium's own environments, one after the other."""

import numpy as np
from gymnasium.vector import AutoresetMode

from rungs.cartpole.host import Arrays
from rungs.cartpole.one_env import OneCartPole
from rungs.cartpole.vector_env import CartPoleVectorEnv
from rungs.errors import ConfigurationError


class GymnasiumCartPoleEnv(CartPoleVectorEnv):
    """A loop over Gymnasium's `CartPoleEnv`. See `CartPoleVectorEnv` for arguments and outputs.

    Its sine and cosine are NumPy's, so that states differ from other rungs' by a few units in the
    last place. `dtype` is "float64".

    Raises:
        ConfigurationError: another `dtype`.
    """

    def __init__(self, num_envs: int, **settings):
        super().__init__(num_envs, **settings)
        if self.settings.dtype != "float64":
            raise ConfigurationError(f"dtype={self.settings.dtype!r}: Gymnasium's is 'float64'")
        how = (self.settings.max_episode_steps, self.settings.workload)
        numbers = range(self.first_env, self.first_env + self.num_envs)
        self._envs = [OneCartPole(self._seed, number, *how) for number in numbers]
        self._arrays = Arrays(self.num_envs, self.first_env, self.settings)
        self._outputs = self._arrays.outputs

    def _reset(self, which: np.ndarray | None, episode: int | None) -> None:
        out = self._outputs
        for i, env in enumerate(self._envs):
            if which is None or which[i]:
                number = env.episode + 1 if episode is None else episode
                out.observation[i] = env.begin(self._seed, number)
                out.reward[i] = out.terminated[i] = out.truncated[i] = out.ended[i] = 0

    def _step(self, actions: np.ndarray) -> int:
        chosen, out = actions.tolist(), self._outputs
        for i, action in enumerate(chosen):
            if action not in (0, 1):
                raise self._invalid(i, action)
        for i, (env, action) in enumerate(zip(self._envs, chosen, strict=True)):
            if self.autoreset_mode == AutoresetMode.NEXT_STEP and out.ended[i]:
                out.observation[i] = env.begin(self._seed, env.episode + 1)
                out.reward[i] = out.terminated[i] = out.truncated[i] = out.ended[i] = 0
                continue
            seen, out.reward[i], out.terminated[i], out.truncated[i], _ = env.step(action)
            out.ended[i] = out.terminated[i] or out.truncated[i]
            if out.ended[i] and self.autoreset_mode == AutoresetMode.SAME_STEP:
                out.final_observation[i] = seen
                seen = env.begin(self._seed, env.episode + 1)
            out.observation[i] = seen
        return int(out.ended.sum())

    def _dump(self) -> dict:
        arrays = self._arrays
        for i, env in enumerate(self._envs):
            arrays.state[:, i], arrays.steps[i], arrays.episode[i] = (
                env.state,
                env.steps,
                env.episode,
            )
        return arrays.dump()

    def _load(self, arrays: dict) -> None:
        self._arrays.load(arrays)
        for i, env in enumerate(self._envs):
            env.begin(self._seed, int(self._arrays.episode[i]))
            env.state, env.steps = self._arrays.state[:, i].copy(), int(self._arrays.steps[i])
