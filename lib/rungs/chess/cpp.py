"""The C++ rung: our own bitboards, one thread, compiled by Cling as it is loaded."""

import numpy as np

from rungs import jit
from rungs.chess.buffers import Buffers
from rungs.chess.native import Boards, fen_at
from rungs.chess.vector_env import ChessVectorEnv


class CppChessEnv(ChessVectorEnv):
    """See `ChessVectorEnv` for arguments and outputs.

    Args:
        num_envs: number of boards.
        api: the compiled functions; by default `rungs.jit.load()`. `rungs.aot.load()` gives the
            same header compiled ahead of time, as a control.
    """

    def __init__(self, num_envs: int, *, api=None, **settings):
        super().__init__(num_envs, **settings)
        self._api = api or jit.load()
        self._boards = self._own_boards()
        # Looked up once: a board is stepped in less time.
        self._serial_step = self._api.rungs_chess_serial_step

    def memory_bytes(self) -> int:
        """The state and the outputs of all boards, which a step goes through."""
        return self._boards.memory_bytes() + self._buffers.memory_bytes()

    def _own_boards(self) -> Boards:
        return Boards(self._api, self._buffers, self.settings, self.first_board)

    def _write_to(self, buffers: Buffers) -> None:
        super()._write_to(buffers)
        self._boards.write_to(buffers)

    def _reset(self, which: np.ndarray | None, episode: int | None) -> None:
        self._boards.batch.seed = self._seed
        marks = 0 if which is None else which.ctypes.data
        self._reset_boards(marks, -1 if episode is None else episode)

    def _step(self, actions: np.ndarray, replies: np.ndarray | None) -> int:
        ended = self._step_boards(actions, 0 if replies is None else replies.ctypes.data)
        if ended < 0:
            board = -1 - ended
            raise self._illegal(board, int(actions[board]), self._fen(board))
        return ended

    def _reset_boards(self, marks: int, episode: int) -> None:
        self._api.rungs_chess_serial_reset(self._boards.address, marks, episode)

    def _step_boards(self, actions: np.ndarray, replies: int) -> int:
        return self._serial_step(self._boards.address, actions, replies)

    def _begin_with(self, replies: np.ndarray) -> None:
        self._api.rungs_chess_serial_begin_with(self._boards.address, replies.ctypes.data)

    def _fen(self, board: int) -> str:
        return fen_at(self._api, self._api.rungs_chess_position(self._boards.address, board))

    def _episode(self, board: int) -> int:
        return self._api.rungs_chess_episode(self._boards.address, board)

    def _layout(self) -> str:
        return self._boards.layout()

    def _dump(self) -> bytes:
        return self._boards.dump()

    def _load(self, payload: bytes) -> None:
        self._boards.load(payload)
        self._boards.batch.seed = self._seed
        self._api.rungs_chess_serial_write(self._boards.address)
