"""The first rung: python-chess, one board after the other."""

import json

import numpy as np

from rungs.chess.board_env import ChessBoardEnv
from rungs.chess.vector_env import ChessVectorEnv


class PythonChessEnv(ChessVectorEnv):
    """A loop over boards, in Python. See `ChessVectorEnv` for arguments and outputs."""

    LAYOUT = "Python, moves"

    def __init__(self, num_envs: int, **settings):
        super().__init__(num_envs, **settings)
        numbers = range(self.first_board, self.first_board + self.num_envs)
        self._envs = [ChessBoardEnv(number, self.settings) for number in numbers]

    def _reset(self, which: np.ndarray | None, episode: int | None) -> None:
        for i, env in enumerate(self._envs):
            if which is None or which[i]:
                env.begin(self._seed, episode)
                env.write(self._buffers, i)

    def _step(self, actions: np.ndarray, replies: np.ndarray | None) -> int:
        chosen = actions.tolist()
        for i, (env, action) in enumerate(zip(self._envs, chosen, strict=True)):
            if not env.takes(action):
                raise self._illegal(i, action, self._fen(i))
        answers = [None] * self.num_envs if replies is None else replies.tolist()
        return sum(
            env.step(chosen[i], answers[i], self._buffers, i) for i, env in enumerate(self._envs)
        )

    def _begin_with(self, replies: np.ndarray) -> None:
        for i, (env, reply) in enumerate(zip(self._envs, replies.tolist(), strict=True)):
            if reply >= 0:
                env.begin_with(reply)
                env.write(self._buffers, i)

    def _fen(self, board: int) -> str:
        return self._envs[board].board.fen()

    def _episode(self, board: int) -> int:
        return self._envs[board].episode

    def _layout(self) -> str:
        return self.LAYOUT

    def _dump(self) -> bytes:
        return json.dumps([env.dump() for env in self._envs]).encode()

    def _load(self, payload: bytes) -> None:
        for i, (env, saved) in enumerate(zip(self._envs, json.loads(payload), strict=True)):
            env.load(self._seed, saved)
            env.write(self._buffers, i)
