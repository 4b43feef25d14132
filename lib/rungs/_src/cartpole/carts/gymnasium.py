"""The first rung of CartPole: Gymnasium's own environments, one after the other."""

import numpy as np
from gymnasium.vector import AutoresetMode

from rungs._src.cartpole.carts.one_by_one import OneByOneCarts
from rungs._src.cartpole.settings import CartPoleSettings


class GymnasiumCarts(OneByOneCarts):
    """A loop over Gymnasium's `CartPoleEnv`. See `Carts` for arguments.

    Its sine and cosine are NumPy's, so that states differ from other rungs' by a few units in the
    last place. `dtype` is "float64".

    Raises:
        ConfigurationError: another `dtype`.
    """

    def __init__(self, num_envs: int, first_env: int, settings: CartPoleSettings):
        super().__init__(num_envs, first_env, settings)
        self._envs = [make() for make in self.makers]

    def reset(self, which: np.ndarray | None, seed: int, episode: int | None) -> None:
        self.seed = seed
        for i, env in enumerate(self._envs):
            if which is None or which[i]:
                number = env.episode + 1 if episode is None else episode
                self.begun_at(i, env.begin(self.seed, number))

    def step(self, actions: np.ndarray) -> int:
        actions = self.accepted(actions)
        out = self.outputs
        for i, (env, action) in enumerate(zip(self._envs, actions.tolist(), strict=True)):
            if self.settings.autoreset_mode == AutoresetMode.NEXT_STEP and out.ended[i]:
                self.begun_at(i, env.begin(self.seed, env.episode + 1))
                continue
            seen, out.reward[i], out.terminated[i], out.truncated[i], _ = env.step(action)
            out.ended[i] = out.terminated[i] or out.truncated[i]
            if out.ended[i] and self.settings.autoreset_mode == AutoresetMode.SAME_STEP:
                out.final_observation[i] = seen
                seen = env.begin(self.seed, env.episode + 1)
            out.observation[i] = seen
        return int(out.ended.sum())

    def dump(self) -> dict:
        arrays = self.arrays
        for i, env in enumerate(self._envs):
            arrays.state[:, i] = env.state
            arrays.steps[i], arrays.episode[i] = env.steps, env.episode
        return arrays.dump()

    def load(self, arrays: dict, seed: int) -> None:
        self.seed = seed
        self.arrays.load(arrays)
        for i, env in enumerate(self._envs):
            env.begin(self.seed, int(self.arrays.episode[i]))
            env.state, env.steps = self.arrays.state[:, i].copy(), int(self.arrays.steps[i])
