"""The interface by which the suite plays an environment."""

import abc
import dataclasses
from typing import Any

from rungs.errors import UnsupportedError

_BEGINNINGS = {
    "chess960": "Chess960",
    "fen": "a position to begin with",
    "max_plies": "a limit of plies",
}


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a game stands after the last ply.

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


class Environment(abc.ABC):
    """One game of chess in an environment, played move by move.

    A method raises `UnsupportedError`, with a few words, for what the environment can't do.
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
            UnsupportedError: it can't begin so.
        """

    @abc.abstractmethod
    def legal_moves(self) -> list[str]:
        """Returns the moves that its mask or list allows now, in UCI.

        Raises:
            UnsupportedError: it has none; or, after the end, is in its next game already.
        """

    @abc.abstractmethod
    def play(self, move: str) -> None:
        """Plays one of the legal moves, in UCI."""

    @abc.abstractmethod
    def outcome(self) -> Outcome:
        """Returns how the game stands after the last ply."""


def check_not_asked(**beginning: Any) -> None:
    """Raises UnsupportedError where an argument of `Environment.begin` is given that is named."""
    for name, what in _BEGINNINGS.items():
        if beginning.get(name):
            raise UnsupportedError(what)
