"""The first rung: python-chess, one board after the other."""

import numpy as np

from rungs.chess.board_env import ChessBoardEnv
from rungs.chess.vector_env import ChessVectorEnv
from rungs.errors import IllegalActionError


class PythonChessEnv(ChessVectorEnv):
    """A loop over boards, in Python. See `ChessVectorEnv` for arguments and outputs."""

    def __init__(self, num_envs: int, **settings):
        super().__init__(num_envs, **settings)
        self._envs = [ChessBoardEnv(i, self.settings) for i in range(self.num_envs)]

    def _reset(self, episode: int | None) -> None:
        for i, env in enumerate(self._envs):
            env.begin(self._seed, episode)
            env.write(self._buffers, i)

    def _step(self, actions: np.ndarray) -> None:
        chosen = actions.tolist()
        for i, (env, action) in enumerate(zip(self._envs, chosen, strict=True)):
            if not env.is_legal(action):
                move = env.move_of(action)
                raise IllegalActionError(i, action, move and move.uci(), env.board.fen())
        for i, (env, action) in enumerate(zip(self._envs, chosen, strict=True)):
            env.step(action, self._buffers, i)

    def _fen(self, board: int) -> str:
        return self._envs[board].board.fen()
