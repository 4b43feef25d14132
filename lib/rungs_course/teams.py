"""Boards whose step a team of threads shares out in ways of the course, and what a step costs."""

import ctypes
import dataclasses

import numpy as np

from rungs.chess import ChessSettings, ChessVectorEnv
from rungs.devel import described, openmp, whole_lines
from rungs.devel.envs import CppBoards
from rungs.memory import zeroed_lines
from rungs_course import compiled

# By `rungs::course::Way`'s names.
WAYS = ("alone", "naive", "chunked", "gated", "padded", "padded runs")
# And those that go through their boards twice, which differ in their barriers.
BARRIERS = ("one barrier", "two barriers", "twice")
_PADDED = ("padded", "padded runs")
BLOCK = 8  # boards: `rungs::env::kBlock`


class SharedBoards(CppBoards):
    """The C++ rung's boards, shared out among threads in one of `WAYS` or `BARRIERS`.

    Actions are not checked: each must be legal. Observations are "board", and there is no engine.
    """

    def __init__(
        self, num_envs: int, first_board: int, settings: ChessSettings, *, layout: str, threads: int
    ):
        super().__init__(num_envs, first_board, settings)
        self.course = compiled.load_course()
        ways = described(self.course).enumerations["Way"]
        self._layout, self._threads = ways[layout.replace(" ", "_")], threads
        openmp.team(self.api, threads)
        self._play = self.course.rungs_chess_shared_play

    def step_all(self) -> int:
        return self._play(self._address, self.actions, 1, self._layout, self._threads)

    def play(self, actions: np.ndarray) -> int:
        """Plays (steps, N) int64 actions in one call; returns how many episodes ended."""
        return self._play(self._address, actions, len(actions), self._layout, self._threads)

    def play_apart(self, actions: np.ndarray) -> int:
        """Plays the same with threads that wait for each other only at the end."""
        play = self.course.rungs_chess_apart_play
        return play(self._address, actions, len(actions), self._threads)


class PaddedBoards(SharedBoards):
    """The same boards, with whole cache lines for each block's part of each output.

    Arguments are as for `SharedBoards`; `layout` is "padded" or "padded runs".
    """

    def __init__(
        self, num_envs: int, first_board: int, settings: ChessSettings, *, layout: str, threads: int
    ):
        super().__init__(num_envs, first_board, settings, layout=layout, threads=threads)
        self._apart = type(self.batch).from_buffer_copy(self.batch)
        self._padded = {}
        for name, array in [*vars(self.buffers).items(), ("chosen", self._chosen)]:
            row = array.nbytes // num_envs * BLOCK
            memory = zeroed_lines(whole_lines(row) * -(-num_envs // BLOCK))
            self._padded[name] = memory.reshape(-1, whole_lines(row) or 1)[:, :row]
            setattr(self._apart, name, memory.ctypes.data)
        self._address = ctypes.addressof(self._apart)

    def reset_all(self, marks: int, episode: int) -> None:
        self.api.rungs_chess_serial_reset(self.address, marks, episode)

    def step_all(self) -> int:
        ended = super().step_all()
        for name, array in vars(self.buffers).items():  # where the environment looks for them
            padded = self._padded[name].reshape(-1)[: array.nbytes]
            array[...] = padded.view(array.dtype).reshape(array.shape)
        return ended


def make(layout: str, num_envs: int, threads: int, mask: str = "bool") -> ChessVectorEnv:
    """Makes an environment whose steps are shared out in a way of `WAYS` or `BARRIERS`."""
    boards = PaddedBoards if layout in _PADDED else SharedBoards
    return ChessVectorEnv(num_envs, boards, layout=layout, threads=threads, mask=mask)


@dataclasses.dataclass(frozen=True)
class StepCost:
    """The cost of a step on one thread or several, as measured."""

    ply: float  # seconds of a board's step
    call: float  # seconds of a call from Python
    meeting: float  # seconds that threads take to begin and end together

    def seconds(self, boards: np.ndarray, threads: int) -> np.ndarray:
        """Returns the seconds of a step of `boards` boards, shared evenly."""
        return self.call + self.meeting * (threads > 1) + self.ply * np.ceil(boards / threads)

    def speedup(self, boards: np.ndarray, threads: int) -> np.ndarray:
        """Returns how many times as fast as one thread `threads` threads are."""
        return self.seconds(boards, 1) / self.seconds(boards, threads)
