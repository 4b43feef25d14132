"""Pgx's `chess`, one state of it."""

import numpy as np
import pgx
from pgx.experimental.chess import from_fen

from rungs.conformance.environment import Outcome, check_not_asked
from rungs_course.peers.environments.beside import BesideBoard
from rungs_course.peers.pgx import TO_OURS, TO_THEIRS, import_jax


class Pgx(BesideBoard):
    """A state that stays where its game ends; positions by `pgx.experimental.chess.from_fen`."""

    def __init__(self) -> None:
        self._jax = import_jax()
        env = pgx.make("chess")
        self._init, self._step = self._jax.jit(env.init), self._jax.jit(env.step)

    def begin(
        self, fen: str | None = None, chess960: bool = False, max_plies: int | None = None
    ) -> None:
        check_not_asked(chess960=chess960, max_plies=max_plies)
        self.set_beside(fen)
        self._state = from_fen(fen) if fen else self._init(self._jax.random.PRNGKey(0))

    def legal_moves(self) -> list[str]:
        return self.named(TO_OURS[np.flatnonzero(np.asarray(self._state.legal_action_mask))])

    def play(self, move: str) -> None:
        action = self._jax.numpy.int32(TO_THEIRS[self.pushed(move)])
        self._state = self._step(self._state, action)

    def outcome(self) -> Outcome:
        state = self._state
        white, black = (float(state.rewards[player]) for player in state._player_order)
        return Outcome(bool(state.terminated), bool(state.truncated), (white, black))
