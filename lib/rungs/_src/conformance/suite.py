"""The suite's cases, read from `suite.json`, whose format docs/conformance.md describes."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import chess

from rungs._src.core.schema import schema_error
from rungs.errors import ConfigurationError

PATH = Path(__file__).with_name("suite.json")

# The version of the file's format: increased if programs that read it have to change.
SCHEMA = 1

# Endings by rule; the other three: not over, truncated, not terminated (reason open).
ENDINGS = ("checkmate", "stalemate", "insufficient material", "fifty moves", "threefold repetition")
GOES_ON, TRUNCATED, OPEN = "none", "truncated", "open"

KINDS = ("law", "reading", "interface")

AUTORESET = ("same_step", "next_step", "disabled")

# Random positions of several draws. "same": equal, board by board, up to the shortest draw;
# "different": no two draws are equal; "distinct": within each draw not all positions are equal.
DRAWN = ("same", "different", "distinct")

_FORM = {
    "schema": int,
    "version": int,
    "groups": [
        {"name": str, "kind": str, "source": str, "what": str, "cases": [{"id": str, "why": str}]}
    ],
}


@dataclasses.dataclass(frozen=True)
class Group:
    """Cases about one rule.

    Attributes:
        name: what it is about.
        kind: "law", where the laws of chess leave no choice; "reading", where they ask for a
            player's claim, so environments may differ; "interface", what RL adds.
        source: of the rule.
        what: the rule, in a sentence.
    """

    name: str
    kind: str
    source: str
    what: str


@dataclasses.dataclass(frozen=True)
class Case:
    """A game, and what must hold after it.

    Attributes:
        id: its name, which never changes its meaning.
        group: the name of its group.
        why: what it tests.
        fen: where the game begins; None for the initial position.
        chess960: whether it is one of Chess960.
        max_plies: the limit to be set, or None.
        autoreset: one of `AUTORESET`, where the case is about it.
        before: the moves of games that were played and ended on the same board before.
        beside: the moves on other boards of the batch, in the same steps.
        moves: in UCI, all legal; only the last may end the game.
        legal: all legal moves afterwards, in order; None where the case is not about them.
        ending: one of `ENDINGS`; "none", where the game goes on; "truncated"; "open", where it is
            not terminated; or None, where the case is not about it.
        rewards: of White and Black for the last ply; None where the case is not about them.
        refused: whether `fen` must be refused.
        illegal: moves that must be refused, and change nothing.
        position: the FEN of the position afterwards, or None.
        actions: by move, as `Environment.action` writes them.
        planes: of `Environment.planes`, by number: the squares that hold 1, if the others hold 0;
            or the value that all squares hold.
        draws: seeds, and how many games are drawn by each.
        drawn: one of `DRAWN`.
    """

    id: str
    group: str
    why: str
    fen: str | None = None
    chess960: bool = False
    max_plies: int | None = None
    autoreset: str | None = None
    before: tuple[tuple[str, ...], ...] = ()
    beside: tuple[tuple[str, ...], ...] = ()
    moves: tuple[str, ...] = ()
    legal: tuple[str, ...] | None = None
    ending: str | None = None
    rewards: tuple[float, float] | None = None
    refused: bool = False
    illegal: tuple[str, ...] = ()
    position: str | None = None
    actions: dict[str, str] = dataclasses.field(default_factory=dict)
    planes: dict[str, tuple[str, ...] | int] = dataclasses.field(default_factory=dict)
    draws: tuple[tuple[int, int], ...] = ()
    drawn: str | None = None

    @property
    def start(self) -> str:
        """The FEN at which it begins."""
        return chess.STARTING_FEN if self.fen is None else self.fen

    def board(self) -> chess.Board:
        """Returns python-chess's board at its beginning; a ValueError if the FEN is malformed."""
        return chess.Board(self.start, chess960=self.chess960)


@dataclasses.dataclass(frozen=True)
class Suite:
    """All cases.

    Attributes:
        version: increased with every change.
        groups: by name, in their order.
        cases: in the order of their groups.
    """

    version: int
    groups: dict[str, Group]
    cases: tuple[Case, ...]

    def of_groups(self, names: list[str]) -> "Suite":
        """Returns the suite with the cases of some groups; a ConfigurationError names others."""
        if unknown := sorted(set(names) - set(self.groups)):
            known = ", ".join(self.groups)
            raise ConfigurationError(f"no group {', '.join(unknown)}; there are: {known}")
        groups = {name: group for name, group in self.groups.items() if name in names}
        return Suite(
            self.version, groups, tuple(case for case in self.cases if case.group in names)
        )


def load(path: Path = PATH) -> Suite:
    """Reads a suite; a ConfigurationError says where it is missing or malformed."""
    try:
        table = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path} can't be read: {error}") from None
    if fault := schema_error(table, _FORM):
        raise ConfigurationError(f"{path}: {fault}")
    if table["schema"] != SCHEMA:
        raise ConfigurationError(f"{path} is of schema {table['schema']}; this reads {SCHEMA}")
    groups: dict[str, Group] = {}
    cases: dict[str, Case] = {}
    try:
        for entry in table["groups"]:
            group = Group(**{key: value for key, value in entry.items() if key != "cases"})
            if group.kind not in KINDS or group.name in groups:
                raise ConfigurationError(
                    f"{path}: group {group.name!r} is of kind {group.kind!r}, or there twice"
                )
            groups[group.name] = group
            for values in entry["cases"]:
                case = Case(group=group.name, **{key: _tuples(values[key]) for key in values})
                if fault := _fault(case) or ("is there twice" if case.id in cases else ""):
                    raise ConfigurationError(f"{path}: case {case.id!r} {fault}")
                cases[case.id] = case
    except TypeError as error:
        raise ConfigurationError(f"{path}: {error}") from None
    return Suite(table["version"], groups, tuple(cases.values()))


def _fault(case: Case) -> str:
    if case.ending not in (None, GOES_ON, TRUNCATED, OPEN, *ENDINGS):
        return f"ends by {case.ending!r}"
    if case.autoreset not in (None, *AUTORESET):
        return f"has autoreset {case.autoreset!r}"
    return "" if case.drawn in (None, *DRAWN) else f"draws what is {case.drawn!r}"


def _tuples(value: Any) -> Any:
    """Returns JSON's lists as tuples, at any depth."""
    if isinstance(value, dict):
        return {key: _tuples(inner) for key, inner in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
