"""The OpenMP rung of CartPole: the C++ rung's registers, shared out among threads."""

import numpy as np

from rungs._src.cartpole.carts.cpp import CppCarts
from rungs._src.cartpole.settings import CartPoleSettings
from rungs._src.native import loader
from rungs._src.threads import openmp
from rungs._src.threads.team import thread_count


class OpenmpCarts(CppCarts):
    """The same carts, dealt out to threads; how many changes time and nothing else.

    Args:
        num_envs: see `Carts`.
        first_env: see `Carts`.
        settings: see `Carts`.
        threads: by default as many as there are cores to use. Small batches use fewer, where
            another costs more than it brings.
        compiler: see `CppCarts`.

    Raises:
        UnavailableError: the system gives fewer threads, then or to another thread that steps.
    """

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
        self.threads = thread_count(threads)
        super().__init__(num_envs, first_env, settings, compiler=compiler)
        if self.threads > 1:
            openmp.warn_of_two()
        openmp.require_threads(self._api, self.threads)

    def step(self, actions: np.ndarray) -> int:
        openmp.require_threads(self._api, self.threads)
        return super().step(actions)

    def step_many(self, steps: int, actions: np.ndarray | None, drawn: int) -> tuple:
        openmp.require_threads(self._api, self.threads)
        return super().step_many(steps, actions, drawn)
