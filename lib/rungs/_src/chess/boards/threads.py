"""The threads rung: the C++ rung's boards, taken in chunks by our own thread pool."""

import functools

from rungs._src.chess.boards.cpp import CppBoards
from rungs._src.chess.settings import ChessSettings
from rungs._src.core.memory import zeroed_lines
from rungs._src.native import loader
from rungs._src.native.abi import Api, described
from rungs._src.native.team import Team
from rungs._src.threads.pool import pool_of, thread_count


class ThreadsBoards(CppBoards):
    """The same boards, taken in chunks by the threads that run; their number changes only time.

    A step does not wait for a thread that has taken nothing, and a thread that the system suspends
    within a chunk is left out for a while. Steps are timed, and the calling thread takes them alone
    while the others cost more than they gain, as they may next to a busy process. PyTorch's
    threads, which its loops leave awake, take the place of the pool's where that saves time.
    """

    def __init__(
        self,
        num_envs: int,
        first_board: int,
        settings: ChessSettings,
        *,
        threads: int | None = None,  # at most; by default one per usable core
        compiler: str | None = None,
        api: Api | None = None,
    ):
        self.threads, self._fewer = thread_count(threads), threads is None
        super().__init__(num_envs, first_board, settings, compiler=compiler, api=api)
        self._useful = self.api.rungs_useful_threads(self.threads, num_envs)
        if self._useful > 1:
            pool_of(self.api, self._useful, self._fewer)
        # Where C++ keeps how long steps take: `Payoff` of `cpp/rungs/payoff.hpp`.
        self._payoff = zeroed_lines(described(self.api).constants["payoff_bytes"])
        self._payoff_address = self._payoff.ctypes.data
        load = functools.partial(loader.load_team, compiler)
        self._team = Team(load, "rungs_chess_openmp_step", self._useful)
        self._threads_step = self.api.rungs_chess_threads_step

    def reset_all(self, marks: int, episode: int) -> None:
        if self._useful == 1:
            return super().reset_all(marks, episode)
        pool = pool_of(self.api, self._useful, self._fewer)
        return self.api.rungs_chess_threads_reset(self._address, marks, episode, pool, self._useful)

    def step_all(self) -> int:
        if self._useful == 1:  # as `super().step_all`, whose look-up takes longer
            return self._serial_step(self._address, self._actions_address)
        pool = pool_of(self.api, self._useful, self._fewer)
        helpers = pool, self._useful, self._payoff_address, *self._team.arguments()
        return self._threads_step(self._address, self.actions, *helpers)
