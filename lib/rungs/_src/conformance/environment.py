"""What an environment must be able to do to be asked."""

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
        rewards: what White and Black were given for the last ply; None where it doesn't say.
        reason: how the game ended, of `suite.ENDINGS`; None where it doesn't say.
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
    """One game of chess in an environment, played and asked move by move.

    What it has no way to do it says by raising `UnsupportedError`, with a few words for what.
    """

    @abc.abstractmethod
    def begin(
        self, fen: str | None = None, chess960: bool = False, max_plies: int | None = None
    ) -> None:
        """Begins a game.

        Args:
            fen: the position; None for the initial one.
            chess960: whether castling is Chess960's, and written as the king taking its rook.
            max_plies: truncate a game that has so many plies and isn't over; None: never.

        Raises:
            UnsupportedError: it can't begin so.
        """

    @abc.abstractmethod
    def legal_moves(self) -> list[str]:
        """Returns what its mask or list allows now, as UCI writes moves.

        Raises:
            UnsupportedError: it doesn't say; or, after the end, is at its next game already.
        """

    @abc.abstractmethod
    def play(self, move: str) -> None:
        """Plays a move that it has listed, as UCI writes it."""

    @abc.abstractmethod
    def outcome(self) -> Outcome:
        """Returns how the game stands after the last ply."""


def check_not_asked(**beginning: Any) -> None:
    """Refuses arguments of `Environment.begin` that an environment has no way to take.

    Raises:
        UnsupportedError: one was given.
    """
    for name, what in _BEGINNINGS.items():
        if beginning.get(name):
            raise UnsupportedError(what)
