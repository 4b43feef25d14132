"""The rung of threads of CartPole: the C++ rung's registers, which a team of our own takes."""

import numpy as np

from rungs._src.cartpole.carts.cpp import CppCarts
from rungs._src.cartpole.settings import CartPoleSettings
from rungs._src.threads.team import team_of, thread_count


class ThreadsCarts(CppCarts):
    """The same carts, taken in chunks by whoever runs; who does changes time and nothing else.

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
        self._useful = self._useful_threads(1)
        self._find_team(self._useful)

    def step(self, actions: np.ndarray) -> int:
        self._find_team(self._useful)
        return super().step(actions)

    def step_many(self, steps: int, actions: np.ndarray | None, drawn: int) -> tuple:
        self._find_team(self._useful_threads(steps))
        return super().step_many(steps, actions, drawn)

    def _useful_threads(self, steps: int) -> int:
        return self._api.rungs_cartpole_useful_threads(self.threads, self.num_envs * steps)

    def _find_team(self, threads: int) -> None:
        self._team = team_of(self._api, threads) if threads > 1 else 0
