"""What a chess environment can be set to, checked once for all rungs."""

import dataclasses
import functools
from collections.abc import Mapping, Set
from typing import Any

import chess
from gymnasium.vector import AutoresetMode

from rungs._src.chess.actions import board_of
from rungs._src.chess.buffers import MASKS, MAX_LEGAL
from rungs._src.chess.engine import UciEngine
from rungs._src.chess.observation import dtypes_of
from rungs._src.core.arguments import autoreset_mode, choice, integer, shortened, shown
from rungs.errors import ConfigurationError, InvalidFenError

MAX_PLIES = 2**31 - 1

# The number of the move that an episode may start at. With the 50-move rule no game is longer than
# 5,899 moves, so that numbers stay below the 65,536 that C++ has room for, and are the same on
# every rung.
MAX_FULLMOVE = 59_000

# How many of each a side has before it promotes a pawn.
_AT_FIRST = {chess.KNIGHT: 2, chess.BISHOP: 2, chess.ROOK: 2, chess.QUEEN: 1}

# No game leads to such a check, but all the rules still say how to go on.
PLAYABLE = chess.STATUS_IMPOSSIBLE_CHECK | chess.STATUS_TOO_MANY_CHECKERS


@dataclasses.dataclass(frozen=True)
class ChessSettings:
    """The settings of `rungs.chess.ChessVectorEnv`, which says what they mean.

    Raises:
        ConfigurationError: a setting is wrong, or both `start` and `start_fens` are given; the
            message names it.
        InvalidFenError: a start is malformed, impossible, a game that is over, or at a move beyond
            59,000: with the 50-move rule no game is longer than 5,899 moves, and the number of a
            move is to stay below 65,536. With `mask="list"`, also one with more pieces than a
            side's promotions make: there or later more than 218 actions could be legal.
    """

    opponent: str | UciEngine | None = None
    obs: str = "board"
    mask: str = "bool"
    autoreset_mode: AutoresetMode = AutoresetMode.SAME_STEP
    max_plies: int | None = None
    start_fens: tuple[str, ...] | None = None
    opening_plies: tuple[int, int] = (0, 0)
    dtype: str = None  # type: ignore[assignment]  # made the first of its `obs`
    start: str | None = None

    def __post_init__(self) -> None:
        # What is kept has been made what it stands for: a state of the settings takes no others.
        checked: dict[str, Any] = {
            "obs": choice("obs", self.obs, ("board", "planes", "bitplanes")),
            "mask": choice("mask", self.mask, tuple(MASKS)),
            "autoreset_mode": autoreset_mode(self.autoreset_mode),
            "start": choice("start", self.start, (None, "chess960")),
            "opening_plies": _opening(self.opening_plies),
        }
        if not isinstance(self.opponent, UciEngine):
            known = (None, "random")
            checked["opponent"] = choice("opponent", self.opponent, known, " or a UciEngine")
        if self.max_plies is not None:
            checked["max_plies"] = integer("max_plies", self.max_plies, 1, MAX_PLIES)
        dtypes = dtypes_of(checked["obs"])
        suffix = f" with obs={checked['obs']!r}"
        checked["dtype"] = choice("dtype", self.dtype, (None, *dtypes), suffix) or dtypes[0]
        if checked["start"] is None:
            fens = (chess.STARTING_FEN,) if self.start_fens is None else self.start_fens
            checked["start_fens"] = _starts(fens)
            if checked["mask"] == "list":
                _check_listed(checked["start_fens"])
        elif self.start_fens is not None:
            raise ConfigurationError(
                f"start={checked['start']!r} and start_fens are given: which says where to start?"
            )
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def given(self) -> dict:
        """Returns the settings by name, as they are taken again."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @functools.cached_property
    def starts(self) -> tuple[str, ...]:
        """The positions that episodes start from, of Chess960 in the order of their numbers."""
        return self.start_fens or _chess960_starts()

    @functools.cached_property
    def chess960(self) -> bool:
        """Whether python-chess and UCI are to take the games for Chess960."""
        return self.start == "chess960" or any(board_of(fen).chess960 for fen in self.starts)


@functools.cache
def _chess960_starts() -> tuple[str, ...]:
    """Returns the 960 positions by Scharnagl's numbers: 518 is the one of classical chess."""
    return tuple(chess.Board.from_chess960_pos(number).fen() for number in range(960))


def share_ends(num_envs: int, shares: int) -> list[int]:
    """Returns where each of `shares` even runs of boards ends."""
    return [num_envs * (share + 1) // shares for share in range(shares)]


def _opening(plies: Any) -> tuple[int, int]:
    pair = _listed(plies)
    if len(pair) != 2:
        raise ConfigurationError(f"opening_plies={shown(plies)} is not a pair (min, max)")
    low, high = pair
    low = integer("opening_plies", low, 0, MAX_PLIES)
    return low, integer("opening_plies", high, low, MAX_PLIES)


def _starts(fens: Any) -> tuple[str, ...]:
    listed = _listed(fens)
    if not listed:
        raise ConfigurationError(f"start_fens={shown(fens)} is not a list of FENs")
    return tuple(map(_start, listed))


def _listed(values: Any) -> tuple:
    """Returns what is listed in an order; nothing where there is no list."""
    # In a set the order is another in each process.
    if isinstance(values, str | bytes | bytearray | memoryview | Mapping | Set):
        return ()
    try:
        return tuple(values)
    except Exception:  # anything that making a tuple of no list raises
        return ()


def _start(fen: str) -> str:
    """Returns a FEN in its one proper form, of a game that can be played on."""
    label = f"start_fens: {shown(fen)}"
    if not isinstance(fen, str):
        raise InvalidFenError(f"{label} is not a FEN")
    try:
        board = board_of(fen)
    except ValueError as error:
        raise InvalidFenError(f"{label}: {shortened(str(error))}") from None
    wrong = board.status() & ~PLAYABLE
    if wrong:
        raise InvalidFenError(f"{label} is impossible: {wrong.name}")
    if board.is_game_over() or board.halfmove_clock >= 100:
        raise InvalidFenError(f"{label}: the game is over")
    if board.fullmove_number > MAX_FULLMOVE:
        raise InvalidFenError(f"{label}: the number of its move is above {MAX_FULLMOVE}")
    return board.fen()


def _check_listed(fens: tuple[str, ...]) -> None:
    """Refuses starts from which more actions could be legal than a list has room for.

    With no more pieces than promotions make there are at most 218, here and in all that follows:
    C++ checks the same of saved boards.
    """
    for fen in fens:
        board = chess.Board(fen)
        if any(
            _promoted(board, side) + len(board.pieces(chess.PAWN, side)) > 8
            for side in chess.COLORS
        ):
            raise InvalidFenError(
                f"start_fens: {shown(fen)} has more pieces than promotions make: more than "
                f"{MAX_LEGAL} actions could be legal, and mask='list' has room for no more"
            )


def _promoted(board: chess.Board, side: chess.Color) -> int:
    """Returns how many of a side's pieces must be promoted pawns."""
    counts = {kind: len(board.pieces(kind, side)) for kind in _AT_FIRST}
    return sum(max(0, counts[kind] - number) for kind, number in _AT_FIRST.items())
