"""PettingZoo's `chess_v6`."""

import numpy as np
from pettingzoo.classic import chess_v6

from rungs.conformance.environment import Outcome, check_not_asked
from rungs_course.peers.environments.beside import BesideBoard
from rungs_course.peers.pettingzoo import TO_OURS, TO_THEIRS


class PettingZoo(BesideBoard):
    """An AEC environment; its own games begin with the initial position only."""

    def __init__(self) -> None:
        self._env = chess_v6.env()

    def begin(
        self, fen: str | None = None, chess960: bool = False, max_plies: int | None = None
    ) -> None:
        check_not_asked(chess960=chess960, fen=fen, max_plies=max_plies)
        self.set_beside(None)
        self._env.reset(seed=0)

    def legal_moves(self) -> list[str]:
        mask = self._env.observe(self._env.agent_selection)["action_mask"]
        return self.named(TO_OURS[np.flatnonzero(mask)])

    def play(self, move: str) -> None:
        self._env.step(int(TO_THEIRS[self.pushed(move)]))

    def outcome(self) -> Outcome:
        env = self._env
        return Outcome(
            terminated=all(env.terminations.values()),
            truncated=all(env.truncations.values()),
            rewards=(env.rewards["player_0"], env.rewards["player_1"]),
        )
