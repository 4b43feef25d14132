"""The C++ rung of CartPole: a register of environments at a time, on one thread."""

import ctypes

import numpy as np

from rungs._src.cartpole.carts.arrays import Arrays
from rungs._src.cartpole.carts.carts import Carts
from rungs._src.cartpole.settings import CartPoleSettings
from rungs._src.native import loader

# Steps of carts between two looks at Ctrl-C: some hundredths of a second on one core.
_AT_ONCE = 2**24


class CppCarts(Carts):
    """A loop over registers of carts, in C++.

    Args:
        num_envs: see `Carts`.
        first_env: see `Carts`.
        settings: see `Carts`.
        compiler: who compiles the C++, see `rungs._src.native.loader.load`.
    """

    threads = 1
    _team = 0  # the address of who helps

    _load = staticmethod(loader.load)

    def __init__(
        self,
        num_envs: int,
        first_env: int,
        settings: CartPoleSettings,
        *,
        compiler: str | None = None,
    ):
        super().__init__(num_envs, first_env, settings)
        self._api = self._load(compiler)
        self._arrays = Arrays(num_envs, first_env, settings)
        self.outputs = self._arrays.outputs
        self._batch = self._arrays.batch(self._api)
        self._address = ctypes.addressof(self._batch)
        # Looked up once: a small batch is stepped in less time.
        self._cpp_step = self._api.rungs_cartpole_step

    def reset(self, which: np.ndarray | None, seed: int, episode: int | None) -> None:
        self.seed = self._batch.config.seed = seed
        marks = 0 if which is None else which.ctypes.data
        self._api.rungs_cartpole_reset(self._address, marks, -1 if episode is None else episode)

    def step(self, actions: np.ndarray) -> int:
        ended = self._cpp_step(self._address, actions, self.threads, self._team)
        if ended < 0:
            raise self.invalid(-1 - ended, int(actions[-1 - ended]))
        return ended

    def step_many(self, steps: int, actions: np.ndarray | None, drawn: int) -> tuple:
        rewards, ended = self.sums()
        given = None if actions is None else actions.astype(np.int8)
        self._api.rungs_cartpole_step_many(
            self._address,
            steps,
            0 if given is None else given.ctypes.data,
            drawn,
            rewards,
            ended,
            self.threads,
            self._team,
        )
        return rewards, ended

    def steps_at_once(self) -> int:
        return max(1, _AT_ONCE // (self.num_envs * self.settings.workload))

    def dump(self) -> dict:
        return self._arrays.dump()

    def load(self, arrays: dict, seed: int) -> None:
        self.seed = self._batch.config.seed = seed
        self._arrays.load(arrays)
