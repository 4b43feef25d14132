"""The interface by which the suite plays an environment."""

import abc
import dataclasses
from typing import Any

import numpy as np

from rungs.errors import UnsupportedError

# An environment's optional methods, in words for messages.
OPTIONAL = {
    "fen": "a position as a FEN",
    "refuses_fen": "refusing a FEN",
    "refuses_move": "refusing a move",
    "action": "AlphaZero's actions",
    "planes": "AlphaZero's planes",
    "batch": "several games in a batch",
    "drawn": "random play of its own by a seed",
}

_BEGINNINGS = {
    "chess960": "Chess960",
    "fen": "a position to begin with",
    "max_plies": "a limit of plies",
}


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The state of a game after the last ply.

    Attributes:
        terminated: whether the game is over by its rules.
        truncated: whether the environment ended it for another reason.
        rewards: of White and Black for the last ply; None where unknown.
        reason: how the game ended, one of `suite.ENDINGS`; None where unknown.
    """

    terminated: bool = False
    truncated: bool = False
    rewards: tuple[float | None, float | None] = (None, None)
    reason: str | None = None

    @property
    def over(self) -> bool:
        """Whether the game has ended in either way."""
        return self.terminated or self.truncated


class Batch(abc.ABC):
    """Several games in one environment, all stepped at once."""

    @abc.abstractmethod
    def step(self, moves: list[str | None]) -> None:
        """Plays a legal move, in UCI, on each board; None is any action, which is ignored there."""

    @abc.abstractmethod
    def legal_moves(self, board: int) -> list[str]:
        """Returns the moves that the mask or list of one board allows now, in UCI."""

    @abc.abstractmethod
    def outcome(self, board: int) -> Outcome:
        """Returns how the last step left one board."""


class Environment(abc.ABC):
    """One game of chess in an environment, played move by move.

    A method raises `UnsupportedError`, with a few words, for what the environment can't do. The
    four abstract methods play a game; each of the others is needed by some cases only, and raises
    `UnsupportedError` unless it is overridden.
    """

    @abc.abstractmethod
    def begin(
        self, fen: str | None = None, chess960: bool = False, max_plies: int | None = None
    ) -> None:
        """Begins a game.

        Args:
            fen: the position; None for the initial one.
            chess960: whether castling is as in Chess960, written as the king taking its rook.
            max_plies: when to truncate a game that isn't over; None: never.

        Raises:
            UnsupportedError: it can't begin in this way.
        """

    @abc.abstractmethod
    def legal_moves(self) -> list[str]:
        """Returns the moves that its mask or list allows now, in UCI.

        Raises:
            UnsupportedError: it has no mask or list; or, after the end, it is in its next game
                already.
        """

    @abc.abstractmethod
    def play(self, move: str) -> None:
        """Plays one of the legal moves, in UCI."""

    @abc.abstractmethod
    def outcome(self) -> Outcome:
        """Returns how the game stands after the last ply."""

    def fen(self) -> str:
        """Returns the position as a FEN."""
        raise UnsupportedError(OPTIONAL["fen"])

    def refuses_fen(self, fen: str) -> bool:
        """Tries to begin at a FEN; returns whether the environment refused it by an error."""
        raise UnsupportedError(OPTIONAL["refuses_fen"])

    def refuses_move(self, move: str) -> bool:
        """Tries a move that is not legal, in UCI; returns whether it was refused by an error."""
        raise UnsupportedError(OPTIONAL["refuses_move"])

    def action(self, move: str) -> str:
        """Returns the action of a legal move as one of AlphaZero's: "e2 N2", "g1 NNE", "b7 NE=n".

        First the square it starts from, then its plane, both as the mover sees the board: for
        Black, ranks are counted from the other side. docs/conformance.md lists the 73 planes.
        """
        raise UnsupportedError(OPTIONAL["action"])

    def planes(self) -> np.ndarray:
        """Returns AlphaZero's observation of the side to move, (119, 8, 8), numbers as they are.

        The axes are plane, rank and file, as the mover sees the board. docs/conformance.md lists
        the 119 planes.
        """
        raise UnsupportedError(OPTIONAL["planes"])

    def batch(self, games: int, autoreset: str, max_plies: int | None = None) -> Batch:
        """Begins several games in one batch, truncated after `max_plies` if that is not None.

        `autoreset` is Gymnasium's "same_step" or "next_step", or "disabled".
        """
        raise UnsupportedError(OPTIONAL["batch"])

    def drawn(self, seed: int, games: int) -> list[str]:
        """Returns the positions of a batch after random play by the environment, a FEN per game.

        The environment decides what is random: the plies of an opening, an opponent's replies.
        """
        raise UnsupportedError(OPTIONAL["drawn"])


def check_not_asked(**beginning: Any) -> None:
    """Raises UnsupportedError if a value is given for one of these arguments of `begin`."""
    for name, feature in _BEGINNINGS.items():
        if beginning.get(name):
            raise UnsupportedError(feature)
