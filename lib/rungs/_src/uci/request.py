"""What a controller asks for: options, the game so far, and what ends the thinking."""

import dataclasses
import itertools
import math
from collections.abc import Iterator
from typing import Any

import chess

from rungs._src.chess.actions import action_on
from rungs._src.chess.buffers import MAX_LEGAL
from rungs._src.chess.fen import board_of
from rungs._src.core.arguments import shown
from rungs._src.core.settings import check_fields, setting
from rungs._src.search.settings import MAX_NODES, MAX_SIMULATIONS, POLICIES
from rungs._src.uci.clock import thinking_time
from rungs.errors import ConfigurationError

# The fields of `Options` by the names that controllers use.
OPTIONS = {
    "Threads": "threads",
    "Hash": "hash",
    "MultiPV": "multi_pv",
    "UCI_ShowWDL": "show_wdl",
    "UCI_Chess960": "chess960",
    "Move Overhead": "overhead",
    "Rule": "rule",
    "Simulations": "simulations",
    "Temperature": "temperature",
    "Seed": "seed",
}


@dataclasses.dataclass(frozen=True)
class Options:
    """The options of `setoption`."""

    threads: int = setting(1, "threads; one position at a time gains nothing from more.", 1, 1)
    hash: int = setting(100_000, "nodes of the tree.", 1024, MAX_NODES)
    multi_pv: int = setting(1, "lines that are reported.", 1, MAX_LEGAL)
    show_wdl: bool = setting(False, "whether reports have `wdl`.")
    chess960: bool = setting(False, "whether castling is the king onto its rook.")
    overhead: int = setting(20, "milliseconds that a move takes besides thinking.", 0, 10_000)
    rule: str = setting("auto", "the search's rule.", choices=("auto", *POLICIES))
    simulations: int = setting(0, "of a move at most; 0 for no limit.", 0, MAX_SIMULATIONS)
    temperature: int = setting(0, "hundredths; above 0 moves are drawn by visits.", 0, 1000)
    seed: int = setting(0, "of the moves that are drawn.", 0, 2**31 - 1)

    def __post_init__(self) -> None:
        check_fields(self)

    def declarations(self) -> Iterator[str]:
        """Yields the lines that tell a controller which options there are."""
        fields = {field.name: field for field in dataclasses.fields(self)}
        for name, attribute in OPTIONS.items():
            metadata, value = fields[attribute].metadata, fields[attribute].default
            if isinstance(value, bool):
                yield f"option name {name} type check default {str(value).lower()}"
            elif metadata["choices"]:
                choices = " ".join(f"var {choice}" for choice in metadata["choices"])
                yield f"option name {name} type combo default {value} {choices}"
            else:
                low, high = metadata["range"]
                yield f"option name {name} type spin default {value} min {low} max {high}"

    def replaced(self, words: list[str]) -> "Options":
        """Returns the options after `setoption` with these words; raises ConfigurationError."""
        name, _, text = " ".join(words).partition(" value ")
        name = name.removeprefix("name ").strip()
        known = {option.lower(): attribute for option, attribute in OPTIONS.items()}
        if words[:1] != ["name"] or name.lower() not in known:
            raise ConfigurationError(f"no option {shown(name)}")
        attribute = known[name.lower()]
        try:
            value = _parsed(type(getattr(self, attribute)), text.strip().lower())
            return dataclasses.replace(self, **{attribute: value})
        except ConfigurationError as error:
            raise ConfigurationError(f"option {name}: {error}") from None


@dataclasses.dataclass
class Game:
    """A game up to the position to think about."""

    start: str  # a FEN
    board: chess.Board  # after all moves
    chess960: bool = False
    moves: list[str] = dataclasses.field(default_factory=list)
    actions: list[int] = dataclasses.field(default_factory=list)

    @classmethod
    def begin(cls, start: str, chess960: bool) -> "Game":
        """Makes a game without moves; raises InvalidFenError."""
        return cls(start, board_of(start, chess960), chess960)

    def play(self, moves: list[str]) -> None:
        """Plays moves as UCI writes them; raises ConfigurationError that names an illegal one."""
        for text in moves:
            try:
                move = self.board.parse_uci(text)
            except ValueError:
                move = chess.Move.null()
            if not move:
                raise ConfigurationError(f"{shown(text)} is no legal move in {self.board.fen()}")
            self.actions.append(action_on(move, self.board))
            self.board.push(move)
            self.moves.append(text)


def game_of(words: list[str], chess960: bool, before: Game | None) -> Game:
    """Returns the game that `position` with these words describes.

    A game is sent again for each move: of `before`, which may change, the new moves are played.
    Raises ConfigurationError or InvalidFenError.
    """
    kind, rest = words[:1], words[1:]
    at = rest.index("moves") if "moves" in rest else len(rest)
    fen, moves = " ".join(rest[:at]), rest[at + 1 :]
    if kind == ["startpos"] and not fen:
        fen = chess.STARTING_FEN
    elif kind != ["fen"]:
        raise ConfigurationError(
            f"position {shown(' '.join(words))} is not startpos, or fen with a FEN"
        )
    same = before is not None and (before.start, before.chess960) == (fen, chess960)
    if before is None or not same or moves[: len(before.moves)] != before.moves:
        before = Game.begin(fen, chess960)
    before.play(moves[len(before.moves) :])
    return before


@dataclasses.dataclass(frozen=True)
class Limits:
    """What ends the thinking, whichever comes first."""

    seconds: float = math.inf
    simulations: float = math.inf
    infinite: bool = False  # the move waits for `stop`


# Simulations where a controller names neither a number of them nor a time.
_UNLIMITED = 1024

_NUMBERS = ("nodes", "movetime", "wtime", "btime", "winc", "binc", "movestogo")
_IGNORED = ("depth", "mate", "searchmoves")
_MOST = 2**62  # of a number


def limits_of(words: list[str], options: Options, white: bool) -> tuple[Limits, list[str]]:
    """Returns the limits that `go` with these words sets for a side, and what of it is ignored."""
    numbers: dict[str, int] = {}
    ignored = []
    for word, text in itertools.zip_longest(words, words[1:], fillvalue=""):
        if word in _NUMBERS:
            try:
                numbers[word] = _integer(text)
            except ConfigurationError as error:
                ignored.append(f"{word}: {error}")
        elif word in _IGNORED:
            ignored.append(f"{word} is not supported")
    overhead, seconds = options.overhead / 1000, math.inf
    time, increment = ("wtime", "winc") if white else ("btime", "binc")
    if time in numbers:
        seconds = thinking_time(
            numbers[time] / 1000,
            max(0, numbers.get(increment, 0)) / 1000,
            max(1, numbers["movestogo"]) if "movestogo" in numbers else None,
            overhead,
        )
    if "movetime" in numbers:
        seconds = min(seconds, max(0.0, numbers["movetime"] / 1000 - overhead))
    most = [numbers["nodes"]] if "nodes" in numbers else []
    most += [options.simulations] if options.simulations else []
    infinite = "infinite" in words
    if not most and math.isinf(seconds) and not infinite:
        most = [_UNLIMITED]
    return Limits(seconds, max(1, min(most)) if most else math.inf, infinite), ignored


def _parsed(kind: type, text: str) -> Any:
    """Returns the value of an option; a bool that is none as it is, for its check."""
    if kind is bool:
        return {"true": True, "false": False}.get(text, text)
    return _integer(text) if kind is int else text


def _integer(text: str) -> int:
    try:
        return max(-_MOST, min(int(text), _MOST))
    except ValueError:
        raise ConfigurationError(f"{shown(text)} is not an integer") from None
