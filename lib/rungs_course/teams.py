"""Boards whose step is a function that shares them out among threads."""

from collections.abc import Callable

import numpy as np

from rungs.chess import ChessSettings, ChessVectorEnv
from rungs.devel import openmp
from rungs.devel.envs import CppBoards

# Plays legal (N,) int64 actions on the `ChessBatch` at an address, by a number of threads; returns
# how many episodes ended.
Play = Callable[[int, np.ndarray, int], int]


class SharedBoards(CppBoards):
    """The C++ rung's boards, stepped by a function of a cell or of the course's C++."""

    def __init__(
        self, num_envs: int, first_board: int, settings: ChessSettings, *, play: Play, threads: int
    ):
        super().__init__(num_envs, first_board, settings)
        openmp.team(self.api, threads)
        self._play, self._threads = play, threads

    def step_all(self) -> int:
        return self._play(self.address, self.actions, self._threads)


def make(play: Play, num_envs: int, threads: int) -> ChessVectorEnv:
    """Makes an environment whose step is `play`, on a number of threads."""
    return ChessVectorEnv(num_envs, SharedBoards, play=play, threads=threads)
