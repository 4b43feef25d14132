"""The C++ rung of CartPole: a register of environments at a time, on one thread."""

import ctypes

import numpy as np

from rungs.cartpole.host import Arrays, check_layout
from rungs.cartpole.vector_env import CartPoleVectorEnv
from rungs.compile import cling


class CppCartPoleEnv(CartPoleVectorEnv):
    """See `CartPoleVectorEnv` for arguments and outputs."""

    threads = 1

    def __init__(self, num_envs: int, **settings):
        super().__init__(num_envs, **settings)
        self._api = cling.load()
        check_layout(self._api)
        self._arrays = Arrays(self.num_envs, self.first_env, self.settings)
        self._outputs = self._arrays.outputs
        self._address = ctypes.addressof(self._arrays.batch)
        # Looked up once: a small batch is stepped in less time.
        self._cpp_step = self._api.rungs_cartpole_step

    def _reset(self, which: np.ndarray | None, episode: int | None) -> None:
        self._arrays.batch.seed = self._seed
        marks = 0 if which is None else which.ctypes.data
        self._api.rungs_cartpole_reset(self._address, marks, -1 if episode is None else episode)

    def _step(self, actions: np.ndarray) -> int:
        ended = self._cpp_step(self._address, actions, self.threads)
        if ended < 0:
            raise self._invalid(-1 - ended, int(actions[-1 - ended]))
        return ended

    def _step_many(self, steps: int, actions: np.ndarray | None) -> tuple:
        rewards, ended = self._sums()
        given = 0 if actions is None else actions.ctypes.data
        invalid = -1 - self._api.rungs_cartpole_step_many(
            self._address, steps, given, self._drawn, rewards, ended, self.threads
        )
        if invalid >= 0:
            raise self._invalid(invalid % self.num_envs, int(actions.flat[invalid]))
        self._num_ended = int(self._ended.sum())
        return rewards, ended

    def _dump(self) -> dict:
        return self._arrays.dump()

    def _load(self, arrays: dict) -> None:
        self._arrays.batch.seed = self._seed
        self._arrays.load(arrays)
