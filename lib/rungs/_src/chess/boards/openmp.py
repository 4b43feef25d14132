"""The OpenMP rung: the C++ rung's boards, shared out among threads."""

import ctypes

from rungs._src.chess.boards.cpp import CppBoards
from rungs._src.chess.settings import ChessSettings
from rungs._src.core.arguments import choice, integer
from rungs._src.machine.cpu import usable_cores
from rungs._src.native import loader
from rungs._src.native.abi import Api, described
from rungs._src.threads import openmp
from rungs._src.threads.pool import thread_count

SCHEDULES = ("static", "dynamic", "guided")


class OpenmpBoards(CppBoards):
    """The same boards, shared out among threads; the settings change only time."""

    _load = staticmethod(loader.load_openmp)

    def __init__(
        self,
        num_envs: int,
        first_board: int,
        settings: ChessSettings,
        *,
        threads: int | None = None,  # at most; by default one per usable core
        schedule: str = "static",
        chunk: int | None = None,  # boards at a time; "static" by default one run per thread
        compiler: str | None = None,
        api: Api | None = None,
    ):
        self.threads, self._fewer = thread_count(threads, self._cores()), threads is None
        schedule = choice("schedule", schedule, SCHEDULES)
        if chunk is None:
            chunk = 0 if schedule == "static" else 64
        else:
            chunk = integer("chunk", chunk, 1, 2**31 - 1)
        super().__init__(num_envs, first_board, settings, compiler=compiler, api=api)
        self.threads = openmp.team(self.api, self.threads, self._fewer)
        structures = described(self.api).structures
        self.loop_settings = structures["LoopSettings"](
            threads=self.threads,
            schedule=schedule.upper(),
            chunk=-(-chunk // described(self.api).constants["boards_per_block"]),
        )
        self._loop = ctypes.addressof(self.loop_settings)
        self._openmp_step = self.api.rungs_chess_openmp_step

    def _cores(self) -> int:
        """Returns the number of threads by default."""
        return usable_cores()

    def reset_all(self, marks: int, episode: int) -> None:
        self.loop_settings.threads = openmp.team(self.api, self.threads, self._fewer)
        self.api.rungs_chess_openmp_reset(self._address, marks, episode, self._loop)

    def step_all(self) -> int:
        self.loop_settings.threads = openmp.team(self.api, self.threads, self._fewer)
        return self._openmp_step(self._address, self.actions, self._loop)
