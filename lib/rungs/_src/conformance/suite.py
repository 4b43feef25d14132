"""The suite's cases, read from `suite.toml`."""

import dataclasses
import tomllib
from pathlib import Path
from typing import Any

import chess

from rungs._src.core.schema import schema_error
from rungs.errors import ConfigurationError

PATH = Path(__file__).with_name("suite.toml")

# How a game is over by its rules; then: it is not, the environment ended it, and not terminated.
ENDINGS = (
    "checkmate",
    "stalemate",
    "insufficient material",
    "fifty moves",
    "threefold repetition",
)
GOES_ON, TRUNCATED, OPEN = "none", "truncated", "open"

KINDS = ("law", "reading", "interface")

_FORM = {
    "version": int,
    "group": [{"name": str, "kind": str, "source": str, "what": str}],
    "case": [{"id": str, "group": str, "why": str}],
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
        moves: in UCI, all legal; only the last may end the game.
        legal: all legal moves afterwards, in order; None where the case is not about them.
        ending: one of `ENDINGS`; "none", where the game goes on; "truncated"; "open", where it is
            not terminated; or None, where the case is not about it.
        rewards: of White and Black for the last ply; None where the case is not about them.
    """

    id: str
    group: str
    why: str
    fen: str | None = None
    chess960: bool = False
    max_plies: int | None = None
    moves: tuple[str, ...] = ()
    legal: tuple[str, ...] | None = None
    ending: str | None = None
    rewards: tuple[float, float] | None = None

    def board(self) -> chess.Board:
        """Returns python-chess's board at its beginning."""
        return chess.Board(self.fen or chess.STARTING_FEN, chess960=self.chess960)


@dataclasses.dataclass(frozen=True)
class Suite:
    """All cases.

    Attributes:
        version: counted up with every change.
        groups: by name, in their order.
        cases: in the order of their groups.
    """

    version: int
    groups: dict[str, Group]
    cases: tuple[Case, ...]

    def of_groups(self, names: list[str]) -> "Suite":
        """Returns the suite with the cases of some groups alone.

        Raises:
            ConfigurationError: there is no such group; it is named.
        """
        if unknown := sorted(set(names) - set(self.groups)):
            known = ", ".join(self.groups)
            raise ConfigurationError(f"no group {', '.join(unknown)}; there are: {known}")
        groups = {name: group for name, group in self.groups.items() if name in names}
        return Suite(
            self.version, groups, tuple(case for case in self.cases if case.group in names)
        )


def load(path: Path = PATH) -> Suite:
    """Reads a suite.

    Raises:
        ConfigurationError: the file is missing or malformed; the message says where.
    """
    try:
        table = tomllib.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path} can't be read: {error}") from None
    if wrong := schema_error(table, _FORM):
        raise ConfigurationError(f"{path}: {wrong}")
    try:
        groups = {group["name"]: Group(**group) for group in table["group"]}
        cases = tuple(_case(entry) for entry in table["case"])
    except TypeError as error:
        raise ConfigurationError(f"{path}: {error}") from None
    for group in groups.values():
        if group.kind not in KINDS:
            raise ConfigurationError(f"{path}: group {group.name!r} is of kind {group.kind!r}")
    seen: set[str] = set()
    for case in cases:
        if case.group not in groups or case.id in seen:
            raise ConfigurationError(f"{path}: case {case.id!r} is there twice, or of no group")
        if case.ending not in (None, GOES_ON, TRUNCATED, OPEN, *ENDINGS):
            raise ConfigurationError(f"{path}: case {case.id!r} ends by {case.ending!r}")
        seen.add(case.id)
    return Suite(table["version"], groups, cases)


def _case(entry: dict[str, Any]) -> Case:
    values = dict(entry)
    for name in ("moves", "legal"):
        if name in values:
            values[name] = tuple(values[name].split())
    if "rewards" in values:
        values["rewards"] = tuple(values["rewards"])
    return Case(**values)
