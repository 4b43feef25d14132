"""The settings of a chess environment, checked once for all rungs."""

import dataclasses
import functools
from collections.abc import Mapping, Set
from typing import Any

import chess
from gymnasium.vector import AutoresetMode

from rungs._src.chess.buffers import MASKS, MAX_LEGAL, OUTPUTS
from rungs._src.chess.engine import UciEngine
from rungs._src.chess.fen import board_of
from rungs._src.chess.observation import OBS, dtypes_of
from rungs._src.core.arguments import autoreset_mode, choice, integer, shown
from rungs._src.core.buffers import Kinds
from rungs._src.core.settings import check_fields, checked_later, documented, setting
from rungs.errors import ConfigurationError, InvalidFenError

MAX_PLIES = 2**31 - 1

# The highest move number that an episode may start at. With the 50-move rule no game is longer than
# 5,899 moves, so that move numbers stay below the 65,536 that C++ has room for, and are the same on
# every rung.
MAX_FULLMOVE = 59_000

# A side's pieces before it promotes a pawn.
_AT_FIRST = {chess.KNIGHT: 2, chess.BISHOP: 2, chess.ROOK: 2, chess.QUEEN: 1}


def _opponent(name: str, value: Any) -> str | UciEngine | None:
    if isinstance(value, UciEngine):
        return value
    return choice(name, value, (None, "random"), " or a UciEngine")


def _opening(name: str, plies: Any) -> tuple[int, int]:
    pair = _listed(plies)
    if len(pair) != 2:
        raise ConfigurationError(f"{name}={shown(plies)} is not a pair (min, max)")
    low, high = pair
    low = integer(name, low, 0, MAX_PLIES)
    return low, integer(name, high, low, MAX_PLIES)


def _listed(values: Any) -> tuple:
    """Returns an ordered collection as a tuple; an empty one for anything else."""
    # A set has another order in each process.
    if isinstance(values, str | bytes | bytearray | memoryview | Mapping | Set):
        return ()
    try:
        return tuple(values)
    except Exception:  # any object may raise anything here
        return ()


@documented
@dataclasses.dataclass(frozen=True)
class ChessSettings:
    """The settings of a `rungs.chess.ChessVectorEnv`, which accepts each as a keyword.

    Raises:
        ConfigurationError: a setting is wrong, or both `start` and `start_fens` are given; the
            message names it.
        InvalidFenError: a start is malformed, impossible, a game that is over, or at a move beyond
            59,000: with the 50-move rule no game is longer than 5,899 moves, and move numbers must
            stay below 65,536. With `mask="list"`, also one with more pieces than a side's
            promotions can make: there or later more than 218 actions could be legal.
    """

    opponent: str | UciEngine | None = setting(
        None,
        'None, and one step is one ply of self-play; or "random", and one step is the agent\'s ply '
        "and the reply, chosen uniformly among the legal actions in order of id; or a "
        "`rungs.chess.UciEngine`, and it replies. The agent is White where board number + episode "
        "number is even.",
        check=_opponent,
    )
    obs: str = setting(
        "board",
        "; or ".join(f'"{name}", {meaning}' for name, meaning in OBS.items()) + ".",
        choices=tuple(OBS),
    )
    mask: str = setting(
        "bool",
        '"bool", (N, 4672) bool; "bits", (N, 73) uint64: bit `a % 64` of word `a // 64` '
        '(`rungs.chess.unpack_mask`); or "list", (N, 218) int16: the legal actions in order of '
        "id, and -1 behind them (`rungs.chess.unpack_list`).",
        choices=tuple(MASKS),
    )
    autoreset_mode: AutoresetMode = setting(
        AutoresetMode.SAME_STEP,
        "gymnasium's, by member, name or value. SAME_STEP: a board whose episode ended is already "
        "at its next one, and where any did, `info` has `final_obs` and `final_info`, whose rows "
        "count where `_final_obs` is set. NEXT_STEP: it stays, its mask allows anything (a list "
        "then names action 0 alone), and the next step ignores its action, begins the next "
        "episode and gives reward 0. DISABLED: it stays, its mask allows nothing, and `step` "
        'raises ResetNeeded until `reset(options={"reset_mask": ...})`.',
        check=lambda name, value: autoreset_mode(value),
    )
    max_plies: int | None = setting(
        None,
        "an episode that has this many plies (both sides' counted) at the end of a step, and "
        "isn't over, is truncated. None: never.",
        1,
        MAX_PLIES,
    )
    start_fens: tuple[str, ...] | None = setting(
        None,
        "positions that episodes start from, one chosen at random each time; by default that of "
        "classical chess. Rights to castle are written as in X-FEN or Shredder-FEN: any rook "
        "on its king's first rank may have one.",
        check=checked_later,
    )
    opening_plies: tuple[int, int] = setting(
        (0, 0),
        "how many random plies are played before an episode begins, (min, max), all numbers "
        "between equally likely. They count for repetition, not for `max_plies`. No ply before "
        "the agent's first ends the game: where one would, it is left out.",
        check=_opening,
    )
    dtype: str = setting(
        None,
        'of `obs="planes"`: "float32"; "uint8", in which the number of the move and the halfmove '
        'clock stop at 255; or "bfloat16", rounded to nearest, ties to even. NumPy has no '
        "bfloat16: an array holds its bits as uint16, for "
        "`torch.from_numpy(observation).view(torch.bfloat16)`; a tensor is of that dtype. None: "
        "float32, or the only one of another `obs`.",
        check=checked_later,
    )
    start: str | None = setting(
        None,
        '"chess960", and episodes start from the 960 positions of Chess960, one chosen at random '
        "each time; or None, and they start from `start_fens`.",
        choices=(None, "chess960"),
    )

    def __post_init__(self) -> None:
        check_fields(self)
        dtypes = dtypes_of(self.obs)
        dtype = choice("dtype", self.dtype, (None, *dtypes), f" with obs={self.obs!r}")
        object.__setattr__(self, "dtype", dtype or dtypes[0])
        if self.start is None:
            fens = (chess.STARTING_FEN,) if self.start_fens is None else self.start_fens
            object.__setattr__(self, "start_fens", _starts(fens, self.mask == "list"))
        elif self.start_fens is not None:
            raise ConfigurationError(
                f"start={self.start!r} and start_fens are both given: give only one"
            )

    def given(self) -> dict:
        """Returns the settings by name, as the constructor accepts them."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def output_kinds(self) -> Kinds:
        """Returns shape and dtype of one board's part of every output, for `Buffers.allocate`.

        Returns:
            By their names; the arrays of N boards are:

            - observation: (N, ...), a format of `rungs._src.chess.observation.OBSERVATIONS`.
            - mask: (N, 4672) bool, (N, 73) uint64 or (N, 218) int16.
            - action_count: (N,) int16, how many actions a mask lists; (N, 0) with other masks.
            - player: (N,) int8, the side to move: 0 White, 1 Black.
            - reward: (N,) float32.
            - terminated: (N,) bool.
            - truncated: (N,) bool.
            - ended: (N,) bool, either: boards whose episode the last step ended.
            - reason: (N,) int8, a `rungs.chess.Reason`; 0 where no episode ended.
            - final_observation: like observation, the last one of each board's last episode.
        """
        return {name: kind(self) for name, kind in OUTPUTS.items()}

    @functools.cached_property
    def starts(self) -> tuple[str, ...]:
        """The positions that episodes start from; those of Chess960 in order of their numbers."""
        return self.start_fens or _chess960_starts()

    @functools.cached_property
    def chess960(self) -> bool:
        """Whether python-chess and UCI are to treat the games as Chess960."""
        return self.start == "chess960" or any(board_of(fen).chess960 for fen in self.starts)


@functools.cache
def _chess960_starts() -> tuple[str, ...]:
    """Returns the 960 positions by Scharnagl's numbers: 518 is the one of classical chess."""
    return tuple(chess.Board.from_chess960_pos(number).fen() for number in range(960))


def share_ends(num_envs: int, shares: int) -> list[int]:
    """Returns where each of `shares` even runs of boards ends."""
    return [num_envs * (share + 1) // shares for share in range(shares)]


def _starts(fens: Any, listed: bool) -> tuple[str, ...]:
    values = _listed(fens)
    if not values:
        raise ConfigurationError(f"start_fens={shown(fens)} is not a list of FENs")
    return tuple(checked_start(f"start_fens[{i}]", fen, listed) for i, fen in enumerate(values))


def checked_start(name: str, fen: Any, listed: bool) -> str:
    """Returns a FEN in its canonical form; an InvalidFenError with `name` if it can't start."""
    if not isinstance(fen, str):
        raise InvalidFenError(f"{name}={shown(fen)} is not a FEN")
    try:
        return _start(fen, listed)
    except InvalidFenError as error:
        raise InvalidFenError(f"{name}: {error}") from None


@functools.lru_cache(maxsize=4096)
def _start(fen: str, listed: bool) -> str:
    """Does what `checked_start` does; cached, as checking is slow."""
    board, label = board_of(fen), shown(fen)
    if board.is_game_over() or board.halfmove_clock >= 100:
        raise InvalidFenError(f"{label}: the game is over")
    if board.fullmove_number > MAX_FULLMOVE:
        raise InvalidFenError(f"{label}: its fullmove number is above {MAX_FULLMOVE}")
    if listed and any(
        _promoted(board, side) + len(board.pieces(chess.PAWN, side)) > 8 for side in chess.COLORS
    ):
        raise InvalidFenError(
            f"{label} has more pieces than promotions make: more than {MAX_LEGAL} actions could be "
            "legal, and a list has room for no more"
        )
    return board.fen()


def _promoted(board: chess.Board, side: chess.Color) -> int:
    """Returns how many of a side's pieces must be promoted pawns."""
    counts = {kind: len(board.pieces(kind, side)) for kind in _AT_FIRST}
    return sum(max(0, counts[kind] - number) for kind, number in _AT_FIRST.items())
