"""What a chess environment can be set to, checked once for all rungs."""

import dataclasses

import chess
from gymnasium.vector import AutoresetMode

from rungs.chess.buffers import MASKS
from rungs.chess.engine import UciEngine
from rungs.chess.observation import OBSERVATIONS
from rungs.core.arguments import autoreset_mode, choice, integer
from rungs.errors import ConfigurationError, InvalidFenError

MOST_PLIES = 2**31 - 1

# No game leads to such a check, but all the rules still say how to go on.
PLAYABLE = chess.STATUS_IMPOSSIBLE_CHECK | chess.STATUS_TOO_MANY_CHECKERS


@dataclasses.dataclass(frozen=True)
class ChessSettings:
    """The settings of `rungs.chess.vector_env.ChessVectorEnv`, which says what they mean.

    Raises:
        ConfigurationError: a setting is wrong; the message names it.
        InvalidFenError: a start is malformed, impossible, or a game that is over.
    """

    opponent: str | UciEngine | None = None
    obs: str = "board"
    mask: str = "bool"
    autoreset_mode: AutoresetMode = AutoresetMode.SAME_STEP
    max_plies: int | None = None
    start_fens: tuple[str, ...] = (chess.STARTING_FEN,)
    opening_plies: tuple[int, int] = (0, 0)

    def __post_init__(self):
        if not isinstance(self.opponent, UciEngine):
            choice("opponent", self.opponent, (None, "random"), " or a UciEngine")
        choice("obs", self.obs, tuple(OBSERVATIONS))
        choice("mask", self.mask, tuple(MASKS))
        object.__setattr__(self, "autoreset_mode", autoreset_mode(self.autoreset_mode))
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


def share_ends(num_envs: int, shares: int) -> list[int]:
    """Returns where each of `shares` even runs of boards ends."""
    return [num_envs * (share + 1) // shares for share in range(shares)]


def _start(fen: str) -> str:
    """Returns a FEN in its one proper form, of a game that can be played on."""
    try:
        board = chess.Board(fen)
    except (ValueError, TypeError, AttributeError) as error:
        raise InvalidFenError(f"start_fens: {fen!r}: {error}") from None
    wrong = board.status() & ~PLAYABLE
    if wrong:
        raise InvalidFenError(f"start_fens: {fen!r} is impossible: {wrong.name}")
    if board.is_game_over() or board.halfmove_clock >= 100:
        raise InvalidFenError(f"start_fens: {fen!r}: the game is over")
    return board.fen()
