"""What a chess environment can be set to, checked once for all rungs."""

import dataclasses
import operator

import chess

from rungs.chess.buffers import MASKS
from rungs.errors import ConfigurationError, InvalidFenError

OPPONENTS = (None, "random")
MOST_PLIES = 2**31 - 1

# No game leads to such a check, but all the rules still say how to go on.
_PLAYABLE = chess.STATUS_IMPOSSIBLE_CHECK | chess.STATUS_TOO_MANY_CHECKERS


@dataclasses.dataclass(frozen=True)
class ChessSettings:
    """The settings of `rungs.chess.vector_env.ChessVectorEnv`, which says what they mean.

    Raises:
        ConfigurationError: a setting is wrong; the message names it.
        InvalidFenError: a start is malformed, impossible, or a game that is over.
    """

    opponent: str | None = None
    obs: str = "board"
    mask: str = "bool"
    max_plies: int | None = None
    start_fens: tuple[str, ...] = (chess.STARTING_FEN,)
    opening_plies: tuple[int, int] = (0, 0)

    def __post_init__(self):
        _choice("opponent", self.opponent, OPPONENTS)
        _choice("obs", self.obs, ("board",))
        _choice("mask", self.mask, tuple(MASKS))
        if self.max_plies is not None:
            integer("max_plies", self.max_plies, 1, MOST_PLIES)
        if isinstance(self.start_fens, str) or not self.start_fens:
            raise ConfigurationError(f"start_fens={self.start_fens!r} is not a list of FENs")
        object.__setattr__(self, "start_fens", tuple(map(_start, self.start_fens)))
        try:
            low, high = self.opening_plies
        except (TypeError, ValueError):
            raise ConfigurationError(
                f"opening_plies={self.opening_plies!r} is not a pair (least, most)"
            ) from None
        low = integer("opening_plies", low, 0, MOST_PLIES)
        high = integer("opening_plies", high, low, MOST_PLIES)
        object.__setattr__(self, "opening_plies", (low, high))


def integer(name: str, value, least: int, most: int) -> int:
    """`value` as an int from `least` to `most`; anything else is a ConfigurationError."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ConfigurationError(f"{name}={value!r} is not an integer") from None
    if isinstance(value, bool) or not least <= number <= most:
        raise ConfigurationError(f"{name}={value!r} is not from {least} to {most}")
    return number


def _choice(name: str, value, choices: tuple) -> None:
    if value not in choices:
        raise ConfigurationError(f"{name}={value!r} is not one of {', '.join(map(repr, choices))}")


def _start(fen: str) -> str:
    """A FEN in its one proper form, of a game that can be played on."""
    try:
        board = chess.Board(fen)
    except (ValueError, TypeError, AttributeError) as error:
        raise InvalidFenError(f"start_fens: {fen!r}: {error}") from None
    wrong = board.status() & ~_PLAYABLE
    if wrong:
        raise InvalidFenError(f"start_fens: {fen!r} is impossible: {wrong.name}")
    if board.is_game_over() or board.halfmove_clock >= 100:
        raise InvalidFenError(f"start_fens: {fen!r}: the game is over")
    return board.fen()
