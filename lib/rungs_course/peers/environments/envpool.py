"""EnvPool's `Chess-v1`."""

from typing import Any

import numpy as np

from rungs.conformance.environment import Outcome, check_not_asked
from rungs_course.peers.environments.beside import BesideBoard
from rungs_course.peers.envpool import maker
from rungs_course.peers.pgx import TO_OURS, TO_THEIRS


class EnvPool(BesideBoard):
    """A pool of one; its games begin with the initial position only."""

    def __init__(self) -> None:
        self._make = maker("Chess-v1", 1, 1)
        self._env: Any = None

    def begin(
        self, fen: str | None = None, chess960: bool = False, max_plies: int | None = None
    ) -> None:
        check_not_asked(chess960=chess960, fen=fen, max_plies=max_plies)
        self.set_beside(None)
        if self._env is not None:
            self._env.close()
        self._env = self._make(0)
        _, self._info = self._env.reset()
        self._outcome = Outcome()

    def legal_moves(self) -> list[str]:
        return self.named(TO_OURS[np.flatnonzero(self._info["legal_action_mask"][0])])

    def play(self, move: str) -> None:
        action = np.array([TO_THEIRS[self.pushed(move)]], np.int32)
        _, rewards, terminated, truncated, self._info = self._env.step(action)
        white = int(self._info["current_player"][0] ^ self._info["turn"][0])
        rewards = np.asarray(rewards).reshape(2)
        told = float(rewards[white]), float(rewards[1 - white])
        self._outcome = Outcome(bool(terminated[0]), bool(truncated[0]), told)

    def outcome(self) -> Outcome:
        return self._outcome
