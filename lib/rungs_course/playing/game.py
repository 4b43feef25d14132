"""A game between a person and an agent: what was played, what is legal, and how it ended."""

import datetime

import chess
import chess.pgn

from rungs._src.chess.reason import Reason
from rungs.errors import ConfigurationError
from rungs_course.peers.agreement import ending

_ENDS = {
    Reason.CHECKMATE: "checkmate",
    Reason.STALEMATE: "stalemate",
    Reason.INSUFFICIENT_MATERIAL: "neither side can mate",
    Reason.FIFTY_MOVES: "fifty moves without a capture or a pawn's move",
    Reason.THREEFOLD_REPETITION: "the position stood three times",
}


class Game:
    """Chess against an agent, ended as the environment ends it: draws need no claim.

    Args:
        white: whether the person has White.
        agent: the agent's name.

    Attributes:
        board: the position, and all moves that led there.
    """

    def __init__(self, white: bool, agent: str):
        self.white, self.agent = white, agent
        self.board = chess.Board()

    @property
    def end(self) -> Reason:
        """How it ended; `Reason.ONGOING`, which is false, while it is played."""
        return ending(self.board)

    @property
    def your_turn(self) -> bool:
        return not self.end and self.board.turn == self.white

    def play(self, text: str) -> str:
        """Plays a move for the side to move.

        Args:
            text: as UCI or SAN writes it: "g1f3" or "Nf3".

        Returns:
            The move in SAN.

        Raises:
            ConfigurationError: it is no legal move, or the game is over; nothing has changed.
        """
        if self.end:
            raise ConfigurationError("the game is over")
        return self.board.san_and_push(self._read(text))

    def _read(self, text: str) -> chess.Move:
        for parse in (self.board.parse_uci, self.board.parse_san):
            try:
                move = parse(text)
            except ValueError:
                continue
            if move:
                return move
        raise ConfigurationError(f"{text!r} is no legal move here")

    def take_back(self) -> None:
        """Takes back the person's last move and what followed; nothing where there was none."""
        plies = len(self.board.move_stack)
        mine = [ply for ply in range(plies) if (ply % 2 == 0) == self.white]
        for _ in range(plies - mine[-1] if mine else 0):
            self.board.pop()

    def lines(self) -> list[str]:
        """Returns the moves in SAN, a line for each number: "1. e4 e5"."""
        board, sans = self.board.root(), []
        for move in self.board.move_stack:
            sans.append(board.san_and_push(move))
        return [f"{i // 2 + 1}. {' '.join(sans[i : i + 2])}" for i in range(0, len(sans), 2)]

    def status(self) -> str:
        """Returns whose turn it is, or how the game ended, as a sentence."""
        end = self.end
        if not end:
            check = "Check! " if self.board.is_check() else ""
            return check + ("Your move." if self.your_turn else "The agent's move.")
        if end != Reason.CHECKMATE:
            return f"A draw: {_ENDS[end]}."
        mated = self.board.turn == self.white
        return f"{'The agent wins' if mated else 'You win'}: {_ENDS[end]}."

    def pgn(self) -> str:
        """Returns the game so far as PGN."""
        game = chess.pgn.Game.from_board(self.board)
        players = ("you", self.agent) if self.white else (self.agent, "you")
        game.headers["Event"] = "A game against an agent of Rungs"
        game.headers["Date"] = datetime.date.today().strftime("%Y.%m.%d")
        game.headers["White"], game.headers["Black"] = players
        if self.end:
            mate = "0-1" if self.board.turn == chess.WHITE else "1-0"
            game.headers["Result"] = mate if self.end == Reason.CHECKMATE else "1/2-1/2"
        return str(game)
