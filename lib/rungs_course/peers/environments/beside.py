"""What environments with numbered actions share: a board beside them that names their moves."""

from collections.abc import Iterable

import chess

from rungs.chess.actions import action_on, move_of
from rungs.conformance.environment import Environment


class BesideBoard(Environment):
    """An environment whose actions have numbers that we know in ours.

    The board beside it only translates; which moves are legal and how the game ends it says itself.

    Attributes:
        board: the position, as python-chess has it.
    """

    board: chess.Board

    def set_beside(self, fen: str | None, chess960: bool = False) -> None:
        """Sets the board up."""
        self.board = chess.Board(fen or chess.STARTING_FEN, chess960=chess960)

    def named(self, actions: Iterable[int]) -> list[str]:
        """Returns actions, in our ids, as UCI writes them here; one off the board by its number."""
        moves = ((action, move_of(int(action), self.board)) for action in actions)
        return [move.uci() if move else f"action {action}" for action, move in moves]

    def pushed(self, move: str) -> int:
        """Plays a move on the board; returns its action in our ids."""
        action = action_on(chess.Move.from_uci(move), self.board)
        self.board.push_uci(move)
        return action
