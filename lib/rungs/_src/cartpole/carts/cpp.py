"""The C++ rungs of CartPole: a register of environments at a time, on one thread or on several."""

import ctypes
import dataclasses

import numpy as np

from rungs._src.cartpole.carts.carts import CartPoleSettings, HostCarts
from rungs._src.core.arguments import Seed, seed_fields
from rungs._src.native import loader
from rungs._src.native.abi import described
from rungs._src.threads import openmp
from rungs._src.threads.pool import pool_of, thread_count

# Steps of carts between two checks for Ctrl-C: some tenths of a second on one core.
_AT_ONCE = 2**25


class CppCarts(HostCarts):
    """A loop over registers of carts, in C++; `compiler` as for `rungs._src.native.loader.load`."""

    threads = 1
    _pool = 0  # the address of the thread pool; 0 for none

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
        structures = described(self._api).structures
        values = dataclasses.asdict(settings)
        dtype, mode = values.pop("dtype"), values.pop("autoreset_mode")  # by other names in C++
        config = structures["CartPoleConfig"](
            seed=0, precision=np.dtype(dtype).itemsize, autoreset=mode.name, **values
        )
        sizes = {"num_envs": num_envs, "stride": self._stride, "first_env": first_env}
        self._batch = structures["CartPoleBatch"](
            config=config, seeds=None, **sizes, **vars(self._padded)
        )
        self._address = ctypes.addressof(self._batch)
        self._cpp_step = self._api.rungs_cartpole_step

    def _set_seed(self, seed: Seed) -> None:
        self.seed = seed  # C++ keeps its address
        self._batch.config.seed, self._batch.seeds = seed_fields(seed)

    def reset(self, which: np.ndarray | None, seed: Seed, episode: int | None) -> None:
        self._set_seed(seed)
        marks = 0 if which is None else which.ctypes.data
        self._api.rungs_cartpole_reset(self._address, marks, -1 if episode is None else episode)

    def step(self, actions: np.ndarray) -> int:
        ended = self._cpp_step(self._address, actions, self.threads, self._pool)
        if ended < 0:
            raise self.invalid(-1 - ended, int(actions[-1 - ended]))
        return ended

    def step_many(self, steps: int, actions: np.ndarray | None, actions_drawn: int) -> tuple:
        rewards, ended = self.sums()
        int8_actions = None if actions is None else actions.astype(np.int8)
        rows = 0 if int8_actions is None else int8_actions.ctypes.data
        self._api.rungs_cartpole_step_many(
            self._address, steps, rows, actions_drawn, rewards, ended, self.threads, self._pool
        )
        return rewards, ended

    def steps_at_once(self) -> int:
        return max(1, _AT_ONCE // (self.num_envs * self.settings.workload))

    def load(self, arrays: dict, seed: Seed) -> None:
        super().load(arrays, seed)
        self._set_seed(seed)


class OpenmpCarts(CppCarts):
    """The same carts on OpenMP's threads, by default one per core; small batches use fewer."""

    _load = staticmethod(loader.load_openmp)

    def __init__(
        self,
        num_envs: int,
        first_env: int,
        settings: CartPoleSettings,
        *,
        threads: int | None = None,
        compiler: str | None = None,
    ):
        self._wanted, self._fewer = thread_count(threads), threads is None
        super().__init__(num_envs, first_env, settings, compiler=compiler)
        self.threads = openmp.team(self._api, self._wanted, self._fewer)

    def step(self, actions: np.ndarray) -> int:
        self.threads = openmp.team(self._api, self._wanted, self._fewer)
        return super().step(actions)

    def step_many(self, steps: int, actions: np.ndarray | None, actions_drawn: int) -> tuple:
        self.threads = openmp.team(self._api, self._wanted, self._fewer)
        return super().step_many(steps, actions, actions_drawn)


class ThreadsCarts(CppCarts):
    """The same carts, taken in chunks by threads of our own, as many as for `OpenmpCarts`."""

    def __init__(
        self,
        num_envs: int,
        first_env: int,
        settings: CartPoleSettings,
        *,
        threads: int | None = None,
        compiler: str | None = None,
    ):
        self.threads, self._fewer = thread_count(threads), threads is None
        super().__init__(num_envs, first_env, settings, compiler=compiler)
        self._useful = self._useful_threads(1)
        self._find_pool(self._useful)

    def step(self, actions: np.ndarray) -> int:
        self._find_pool(self._useful)
        return super().step(actions)

    def step_many(self, steps: int, actions: np.ndarray | None, actions_drawn: int) -> tuple:
        self._find_pool(self._useful_threads(steps))
        return super().step_many(steps, actions, actions_drawn)

    def _useful_threads(self, steps: int) -> int:
        return self._api.rungs_cartpole_useful_threads(self.threads, self.num_envs * steps)

    def _find_pool(self, threads: int) -> None:
        self._pool = pool_of(self._api, threads, self._fewer)
