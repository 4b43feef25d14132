"""NChess's board."""

from typing import Any

import nchess

from rungs.conformance.environment import Environment, Outcome, check_not_asked
from rungs.errors import NotOfferedError

# The codes of `get_game_state`, from `nchess.const`.
_REASONS = {
    nchess.const.STATE_WHITE_WIN: "checkmate",
    nchess.const.STATE_BLACK_WIN: "checkmate",
    nchess.const.STATE_STALEMATE: "stalemate",
    nchess.const.STATE_THREEFOLD: "threefold repetition",
    nchess.const.STATE_FIFTY_MOVES: "fifty moves",
    nchess.const.STATE_INSUFFICIENT_MATERIAL: "insufficient material",
}
_REWARDS = {nchess.const.STATE_WHITE_WIN: (1.0, -1.0), nchess.const.STATE_BLACK_WIN: (-1.0, 1.0)}


class NChess(Environment):
    """A board, whose state of the game says who won."""

    def begin(
        self, fen: str | None = None, chess960: bool = False, max_plies: int | None = None
    ) -> None:
        check_not_asked(chess960=chess960, max_plies=max_plies)
        self._board: Any = nchess.Board(fen) if fen else nchess.Board()

    def legal_moves(self) -> list[str]:
        if self.outcome().over:
            raise NotOfferedError("a mask: a board lists moves whatever the game")
        return [_uci(move) for move in self._board.generate_legal_moves()]

    def play(self, move: str) -> None:
        if not self._board.step(move):
            raise ValueError(f"step({move!r}) is False")

    def outcome(self) -> Outcome:
        state = self._board.get_game_state()
        return Outcome(
            terminated=state != nchess.const.STATE_PLAYING,
            rewards=_REWARDS.get(state, (0.0, 0.0)),
            reason=_REASONS.get(state),
        )


def _uci(move: Any) -> str:
    """Returns a move as UCI writes it: `str` says Move("e2e4")."""
    return str(move).split('"')[1]
