"""The first rung of CartPole: Gymnasium's own environments, one after the other."""

import numpy as np
from gymnasium.vector import AutoresetMode

from rungs.cartpole.one_env import OneByOneEnv


class GymnasiumCartPoleEnv(OneByOneEnv):
    """A loop over Gymnasium's `CartPoleEnv`. See `CartPoleVectorEnv` for arguments and outputs.

    Its sine and cosine are NumPy's, so that states differ from other rungs' by a few units in the
    last place. `dtype` is "float64".

    Raises:
        ConfigurationError: another `dtype`.
    """

    def __init__(self, num_envs: int, **settings):
        super().__init__(num_envs, **settings)
        self._envs = [make() for make in self._makers]

    def _reset(self, which: np.ndarray | None, episode: int | None) -> None:
        for i, env in enumerate(self._envs):
            if which is None or which[i]:
                number = env.episode + 1 if episode is None else episode
                self._begun_at(i, env.begin(self._seed, number))

    def _step(self, actions: np.ndarray) -> int:
        self._refuse_invalid(actions)
        out = self._outputs
        for i, (env, action) in enumerate(zip(self._envs, actions.tolist(), strict=True)):
            if self.autoreset_mode == AutoresetMode.NEXT_STEP and out.ended[i]:
                self._begun_at(i, env.begin(self._seed, env.episode + 1))
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
            arrays.state[:, i] = env.state
            arrays.steps[i], arrays.episode[i] = env.steps, env.episode
        return arrays.dump()

    def _load(self, arrays: dict) -> None:
        self._arrays.load(arrays)
        for i, env in enumerate(self._envs):
            env.begin(self._seed, int(self._arrays.episode[i]))
            env.state, env.steps = self._arrays.state[:, i].copy(), int(self._arrays.steps[i])
