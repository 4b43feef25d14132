"""The environments that the suite can play: our rungs, python-chess, and classes of users."""

import importlib
import importlib.metadata
import importlib.util
from pathlib import Path
from typing import Any

import chess
import numpy as np

from rungs._src import paths
from rungs._src.chess.reason import Reason
from rungs._src.conformance.environment import Environment, Outcome
from rungs._src.core.arguments import shown
from rungs._src.registry import make as make_rung
from rungs._src.registry import rungs_of
from rungs.errors import ConfigurationError, UnavailableError
from rungs.version import __version__

PYTHON_CHESS = "python-chess"

# Settings with which a rung needs no GPU.
_SETTINGS: dict[str, dict[str, Any]] = {"cuda": {"device": "cpu"}}


class PythonChess(Environment):
    """python-chess, with which the suite's expectations are checked.

    A game ends as soon as a player could claim a draw.
    """

    def begin(
        self, fen: str | None = None, chess960: bool = False, max_plies: int | None = None
    ) -> None:
        self._board = chess.Board(fen or chess.STARTING_FEN, chess960=chess960)
        self._max_plies = max_plies

    def legal_moves(self) -> list[str]:
        over = self.outcome().over
        return [] if over else [move.uci() for move in self._board.legal_moves]

    def play(self, move: str) -> None:
        self._board.push_uci(move)

    def outcome(self) -> Outcome:
        board = self._board
        if board.is_checkmate():
            white = -1 if board.turn == chess.WHITE else 1
            return Outcome(terminated=True, rewards=(white, -white), reason="checkmate")
        reasons = {
            "insufficient material": board.is_insufficient_material(),
            "stalemate": board.is_stalemate(),
            "fifty moves": board.is_fifty_moves(),
            "threefold repetition": board.is_repetition(3),
        }
        for reason, holds in reasons.items():
            if holds:
                return Outcome(terminated=True, rewards=(0, 0), reason=reason)
        truncated = len(board.move_stack) == self._max_plies
        return Outcome(truncated=truncated, rewards=(0, 0))


class RungEnvironment(Environment):
    """One board of a rung, which stays at the end of its game.

    Raises:
        UnavailableError: this machine or installation lacks what the rung needs.
    """

    def __init__(self, rung: Any):
        self._rung = rung
        self._env: Any = None
        self.begin()  # raises here, not in every case, where the rung can't be made

    def begin(
        self, fen: str | None = None, chess960: bool = False, max_plies: int | None = None
    ) -> None:
        if self._env is not None:
            self._env.close()
        settings: dict[str, Any] = {"start_fens": [fen]} if fen else {}
        settings |= {"max_plies": max_plies, "autoreset_mode": "Disabled"}
        self._env = make_rung("chess", self._rung, 1, **settings | _SETTINGS.get(self._rung, {}))
        _, self._info = self._env.reset(seed=0)
        self._outcome = Outcome(rewards=(0.0, 0.0))

    def legal_moves(self) -> list[str]:
        # Legal by the mask; their names are the environment's.
        allowed = set(np.flatnonzero(self._info["action_mask"][0]).tolist())
        named = {action: move for move, action in self._env.legal_moves(0).items()}
        return [named.get(action, f"action {action}") for action in sorted(allowed)]

    def play(self, move: str) -> None:
        mover = int(self._info["player"][0])
        action = self._env.legal_moves(0)[move]
        _, reward, terminated, truncated, self._info = self._env.step(np.array([action]))
        gets = float(reward[0])
        reason = Reason(int(self._info["reason"][0]))
        self._outcome = Outcome(
            terminated=bool(terminated[0]),
            truncated=bool(truncated[0]),
            rewards=(gets, -gets) if mover == 0 else (-gets, gets),
            reason=reason.name.lower().replace("_", " ") if terminated[0] else None,
        )

    def outcome(self) -> Outcome:
        return self._outcome


def ours() -> list[str]:
    """Returns the names of our rungs of chess."""
    return [rung.name for rung in rungs_of("chess")]


def check(name: str) -> None:
    """Raises an error for a name that `make` doesn't know.

    Raises:
        ConfigurationError: it is no rung, nor python-chess, FILE.py:CLASS or MODULE:CLASS.
    """
    if name not in ours() and name != PYTHON_CHESS and ":" not in name:
        known = ", ".join([*ours(), PYTHON_CHESS])
        raise ConfigurationError(
            f"no environment {shown(name)}; there are: {known}, or FILE.py:CLASS or MODULE:CLASS"
        )


def named(names: list[str]) -> dict[str, tuple[str, bool]]:
    """Returns the environments that names stand for.

    Args:
        names: as of `make`; "rungs" is all of ours, as far as they are here.

    Returns:
        By the name in the table: the name for `make`, and whether it may be missing here.

    Raises:
        ConfigurationError: there is none of such a name.
    """
    chosen: dict[str, tuple[str, bool]] = {}
    for name in names:
        several = name == "rungs"
        for one in ours() if several else [name]:
            check(one)
            chosen[one] = one, several and chosen.get(one, (one, True))[1]
    return chosen


def make(name: str) -> Environment:
    """Makes an environment for the suite.

    Args:
        name: a rung, python-chess, FILE.py:CLASS or MODULE:CLASS: a class derived from
            `Environment`, which takes no arguments.

    Raises:
        ConfigurationError: there is none of this name, or the file or module holds no such class.
        UnavailableError: it is not installed.
    """
    check(name)
    if name in ours():
        return RungEnvironment(name)
    return PythonChess() if name == PYTHON_CHESS else class_of(name)()


def class_of(name: str) -> type[Environment]:
    """Returns the class that FILE.py:CLASS or MODULE:CLASS names.

    Raises:
        ConfigurationError, UnavailableError: as `make`.
    """
    place, _, kind = name.rpartition(":")
    try:
        module = _of_file(place) if place.endswith(".py") else importlib.import_module(place)
    except ModuleNotFoundError as error:
        if f"{place}.".startswith(f"{error.name}."):
            raise ConfigurationError(f"there is no module {place}") from None
        if paths.is_ours(error.name):
            raise  # a bug of ours: nothing to install
        raise UnavailableError(f"{error.name} is not installed") from None
    found = getattr(module, kind, None)
    if not isinstance(found, type) or not issubclass(found, Environment):
        raise ConfigurationError(f"{place} has no class {kind} derived from Environment")
    return found


def version(name: str) -> str:
    """Returns the installed version of an environment's project; "" for a user's class."""
    if name in ours():
        return __version__
    return importlib.metadata.version("chess") if name == PYTHON_CHESS else ""


def _of_file(file: str):
    if not Path(file).is_file():
        raise ConfigurationError(f"there is no file {file}")
    spec = importlib.util.spec_from_file_location(Path(file).stem, file)
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]  # a file has a spec
    spec.loader.exec_module(module)  # type: ignore[union-attr]  # and that a loader
    return module
