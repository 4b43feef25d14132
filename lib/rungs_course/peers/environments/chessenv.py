"""The chess study's own environment, `CChessEnv` of fastchessenv."""

import numpy as np

from rungs.conformance.environment import Outcome, check_not_asked
from rungs.errors import NotOfferedError
from rungs_course.peers.chessenv import import_chessenv, to_ours
from rungs_course.peers.environments.beside import BesideBoard


class ChessEnv(BesideBoard):
    """One board, played by both sides; its games begin with the initial position only."""

    def __init__(self) -> None:
        self._env = import_chessenv().CChessEnv(1)

    def begin(
        self, fen: str | None = None, chess960: bool = False, max_plies: int | None = None
    ) -> None:
        check_not_asked(chess960=chess960, fen=fen, max_plies=max_plies)
        self.set_beside(None)
        _, self._mask = self._env.reset()
        self._outcome = Outcome()

    def legal_moves(self) -> list[str]:
        if self._outcome.over:
            raise NotOfferedError("a mask after the end: it is at its next game")
        return self.named(self._ours()[np.flatnonzero(self._mask[0])])

    def play(self, move: str) -> None:
        ours, black = self._ours(), not self.board.turn
        legal = np.flatnonzero(self._mask[0])
        (theirs,) = legal[ours[legal] == self.pushed(move)]
        done, reward = self._env.push_moves(np.array([theirs], np.int32))
        self._mask = self._env.get_mask()
        gets = float(reward[0])
        rewards = (None, gets) if black else (gets, None)
        self._outcome = Outcome(terminated=bool(done[0]), rewards=rewards)

    def outcome(self) -> Outcome:
        return self._outcome

    def _ours(self) -> np.ndarray:
        return to_ours()[int(not self.board.turn)]
