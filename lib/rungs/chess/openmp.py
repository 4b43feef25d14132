"""The OpenMP rung: the C++ rung's boards, shared out among threads."""

import ctypes

import numpy as np

from rungs import omp
from rungs.arguments import choice, integer
from rungs.chess.cpp import CppChessEnv
from rungs.errors import CompilerError
from rungs.machine.cpu import usable_cores, warn_of_oversubscription

# In the order of `rungs::openmp::Schedule`.
SCHEDULES = ("static", "dynamic", "guided")

MOST_THREADS = 1024


class _Team(ctypes.Structure):
    """`rungs::openmp::Team`."""

    _fields_ = (
        ("threads", ctypes.c_int32),
        ("schedule", ctypes.c_int32),
        ("chunk", ctypes.c_int64),
    )


class OpenmpChessEnv(CppChessEnv):
    """See `ChessVectorEnv` for arguments and outputs; these change time and nothing else.

    Args:
        num_envs: number of boards.
        threads: by default as many as there are cores to use. Small batches use fewer, where
            another costs more than it brings. More than there are cores are allowed, with a
            warning.
        schedule: how boards are dealt out to threads: "static", in turn; "dynamic", to whoever is
            free; "guided", likewise, in runs that grow shorter.
        chunk: boards dealt out at a time; None: with "static" one even run per thread, else 64.

    Raises:
        CompilerError: fewer threads run than asked for.
    """

    def __init__(
        self,
        num_envs: int,
        *,
        threads: int | None = None,
        schedule: str = "static",
        chunk: int | None = None,
        **settings,
    ):
        threads = usable_cores() if threads is None else threads
        self.threads = integer("threads", threads, 1, MOST_THREADS)
        choice("schedule", schedule, SCHEDULES)
        if chunk is None:
            chunk = 0 if schedule == "static" else 64
        else:
            integer("chunk", chunk, 1, 2**31 - 1)
        super().__init__(num_envs, **settings)
        warn_of_oversubscription("threads", self.threads)
        if self.threads > 1:
            omp.warn_of_two()
        team = self._api.rungs_openmp_team_size(self.threads)
        if team != self.threads:
            raise CompilerError(f"OpenMP runs {team} threads where {self.threads} were asked for")
        self._team = _Team(self.threads, SCHEDULES.index(schedule), chunk)
        self._team_address = ctypes.addressof(self._team)
        self._openmp_step = self._api.rungs_chess_openmp_step

    def _reset_boards(self, marks: int, episode: int) -> None:
        self._api.rungs_chess_openmp_reset(self._boards.address, marks, episode, self._team_address)

    def _step_boards(self, actions: np.ndarray, replies: int) -> int:
        return self._openmp_step(self._boards.address, actions, replies, self._team_address)
