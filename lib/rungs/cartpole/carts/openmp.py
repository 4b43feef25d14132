"""The OpenMP rung of CartPole: the C++ rung's registers, shared out among threads."""

import numpy as np

from rungs.cartpole.carts.cpp import CppCarts
from rungs.cartpole.settings import CartPoleSettings
from rungs.compile import openmp
from rungs.core.arguments import integer
from rungs.machine.cpu import usable_cores, warn_of_oversubscription


class OpenmpCarts(CppCarts):
    """The same carts, dealt out to threads; how many changes time and nothing else.

    Args:
        num_envs: see `Carts`.
        first_env: see `Carts`.
        settings: see `Carts`.
        threads: by default as many as there are cores to use. Small batches use fewer, where
            another costs more than it brings.

    Raises:
        UnavailableError: the system gives fewer threads, then or to another thread that steps.
    """

    def __init__(
        self,
        num_envs: int,
        first_env: int,
        settings: CartPoleSettings,
        *,
        threads: int | None = None,
    ):
        threads = usable_cores() if threads is None else threads
        self.threads = integer("threads", threads, 1, 1024)
        super().__init__(num_envs, first_env, settings)
        warn_of_oversubscription("threads", self.threads)
        if self.threads > 1:
            openmp.warn_of_two()
        openmp.require_threads(self._api, self.threads)

    def step(self, actions: np.ndarray) -> int:
        openmp.require_threads(self._api, self.threads)
        return super().step(actions)

    def step_many(self, steps: int, actions: np.ndarray | None, drawn: int) -> tuple:
        openmp.require_threads(self._api, self.threads)
        return super().step_many(steps, actions, drawn)
