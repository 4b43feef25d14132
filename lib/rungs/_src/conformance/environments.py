"""The environments that the suite can play: our rungs, python-chess, and classes of users."""

import importlib
import importlib.metadata
import importlib.util
from pathlib import Path
from typing import Any

import chess
import gymnasium
import numpy as np

from rungs._src import paths
from rungs._src.chess.actions import action_of
from rungs._src.chess.fen import board_of
from rungs._src.chess.reason import Reason
from rungs._src.conformance.environment import Batch, Environment, Outcome
from rungs._src.core.arguments import shown
from rungs._src.registry import make as make_rung
from rungs._src.registry import rungs_of
from rungs.errors import ConfigurationError, InvalidFenError, UnavailableError
from rungs.version import __version__

PYTHON_CHESS = "python-chess"

# Settings with which a rung needs no GPU.
_SETTINGS: dict[str, dict[str, Any]] = {"cuda": {"device": "cpu"}}

_COMPASS = ("N", "NE", "E", "SE", "S", "SW", "W", "NW")
_JUMPS = ("NNE", "ENE", "ESE", "SSE", "SSW", "WSW", "WNW", "NNW")

# The names of our 73 planes of actions, in their order (`cpp/chess/action.hpp`).
PLANES = (
    *(f"{direction}{steps}" for steps in range(1, 8) for direction in _COMPASS),
    *_JUMPS,
    *(f"{direction}={piece}" for piece in "nbr" for direction in ("NW", "N", "NE")),
)


class PythonChess(Environment):
    """python-chess, with which the suite's expectations are checked.

    A game ends as soon as a player could claim a draw. FENs have the grammar of Rungs:
    python-chess alone accepts more.
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

    def fen(self) -> str:
        return self._board.fen()

    def refuses_fen(self, fen: str) -> bool:
        try:
            board_of(fen)
        except InvalidFenError:
            return True
        return False

    def refuses_move(self, move: str) -> bool:
        return self.outcome().over or chess.Move.from_uci(move) not in self._board.legal_moves


class RungBatch(Batch):
    def __init__(self, rung: Any, games: int, **settings: Any):
        self.env: Any = make_rung("chess", rung, games, **settings | _SETTINGS.get(rung, {}))
        self.observation, self._info = self.env.reset(seed=0)
        self._outcomes = [Outcome(rewards=(0.0, 0.0))] * games
        self._actions: dict[int, dict[str, int]] = {}

    def legal_moves(self, board: int) -> list[str]:
        # The mask says which are legal; `legal_moves` of the environment only names them.
        allowed = np.flatnonzero(self._info["action_mask"][board]).tolist()
        named = {action: move for move, action in self.actions(board).items()}
        return [named.get(action, f"action {action}") for action in allowed]

    def actions(self, board: int) -> dict[str, int]:
        """Returns the actions of one board's legal moves, looked up once per step."""
        if board not in self._actions:
            self._actions[board] = self.env.legal_moves(board)
        return self._actions[board]

    def step(self, moves: list[str | None]) -> None:
        self.act([0 if move is None else self.actions(i)[move] for i, move in enumerate(moves)])

    def act(self, actions: list[int]) -> None:
        movers = self._info["player"].tolist()
        self.observation, reward, terminated, truncated, self._info = self.env.step(
            np.array(actions)
        )
        self._actions = {}
        for i, mover in enumerate(movers):
            gets = float(reward[i])
            reason = Reason(int(self._info["reason"][i]))
            self._outcomes[i] = Outcome(
                terminated=bool(terminated[i]),
                truncated=bool(truncated[i]),
                rewards=(gets, -gets) if mover == 0 else (-gets, gets),
                reason=reason.name.lower().replace("_", " ") if terminated[i] else None,
            )

    def outcome(self, board: int) -> Outcome:
        return self._outcomes[board]


class RungEnvironment(Environment):
    """One board of a rung, which stays at the end of its game."""

    def __init__(self, rung: Any):
        self._rung = rung
        self._game: Any = None
        self.begin()  # raises here, not in every case, where the rung can't be made

    def begin(
        self, fen: str | None = None, chess960: bool = False, max_plies: int | None = None
    ) -> None:
        self._make_batch(
            1, start_fens=None if fen is None else [fen], max_plies=max_plies, obs="planes"
        )

    def legal_moves(self) -> list[str]:
        return self._game.legal_moves(0)

    def play(self, move: str) -> None:
        self._game.step([move])

    def outcome(self) -> Outcome:
        return self._game.outcome(0)

    def fen(self) -> str:
        (fen,) = self._game.env.fens()
        return fen

    def refuses_fen(self, fen: str) -> bool:
        try:
            self.begin(fen)
        except InvalidFenError:
            return True
        return False

    def refuses_move(self, move: str) -> bool:
        black = self.fen().split()[1] == "b"
        try:
            self._game.act([action_of(chess.Move.from_uci(move), black)])
        except gymnasium.error.Error:  # an illegal action, or a game that is over
            return True
        return False

    def action(self, move: str) -> str:
        plane, square = divmod(self._game.actions(0)[move], 64)
        return f"{chess.SQUARE_NAMES[square]} {PLANES[plane]}"

    def planes(self) -> np.ndarray:
        return self._game.observation[0]

    def batch(self, games: int, autoreset: str, max_plies: int | None = None) -> Batch:
        return self._make_batch(games, autoreset_mode=autoreset.upper(), max_plies=max_plies)

    def drawn(self, seed: int, games: int) -> list[str]:
        env = self._make_batch(games, opening_plies=(8, 8)).env
        env.reset(seed=seed)
        return env.fens()

    def _make_batch(self, games: int, **settings: Any) -> RungBatch:
        """Makes the boards that are played on from now on."""
        if self._game is not None:
            self._game.env.close()
        self._game = RungBatch(self._rung, games, **{"autoreset_mode": "DISABLED"} | settings)
        return self._game


def rung_names() -> list[str]:
    return [rung.name for rung in rungs_of("chess")]


def check(name: str) -> None:
    """Raises ConfigurationError for a name that `make` doesn't know."""
    if name not in rung_names() and name != PYTHON_CHESS and ":" not in name:
        known = ", ".join([*rung_names(), PYTHON_CHESS])
        raise ConfigurationError(
            f"no environment {shown(name)}; there are: {known}, or FILE.py:CLASS or MODULE:CLASS"
        )


def named(names: list[str]) -> dict[str, tuple[str, bool]]:
    """Returns by label a name for `make`, and if it may be missing; "rungs" are all of ours."""
    chosen: dict[str, tuple[str, bool]] = {}
    for name in names:
        several = name == "rungs"
        for label in rung_names() if several else [name]:
            check(label)
            chosen[label] = label, several and chosen.get(label, (label, True))[1]
    return chosen


def make(name: str) -> Environment:
    """Makes the environment of a name: a rung, python-chess, FILE.py:CLASS or MODULE:CLASS."""
    check(name)
    if name in rung_names():
        return RungEnvironment(name)
    return PythonChess() if name == PYTHON_CHESS else class_of(name)()


def class_of(name: str) -> type[Environment]:
    """Returns the class that FILE.py:CLASS or MODULE:CLASS names; raises as `make`."""
    place, _, kind = name.rpartition(":")
    try:
        module = _of_file(place) if place.endswith(".py") else importlib.import_module(place)
    except ModuleNotFoundError as error:
        if f"{place}.".startswith(f"{error.name}."):
            raise ConfigurationError(f"there is no module {place}") from None
        if paths.is_ours(error.name):
            raise  # a bug of ours: nothing to install
        raise UnavailableError(f"{error.name} is not installed") from None
    environment_class = getattr(module, kind, None)
    if not isinstance(environment_class, type) or not issubclass(environment_class, Environment):
        raise ConfigurationError(f"{place} has no class {kind} derived from Environment")
    return environment_class


def version(name: str) -> str:
    """Returns the installed version of an environment's project; "" for a user's class."""
    if name in rung_names():
        return __version__
    return importlib.metadata.version("chess") if name == PYTHON_CHESS else ""


def _of_file(file: str):
    if not Path(file).is_file():
        raise ConfigurationError(f"there is no file {file}")
    spec = importlib.util.spec_from_file_location(Path(file).stem, file)
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]  # a file has a spec
    spec.loader.exec_module(module)  # type: ignore[union-attr]  # and that a loader
    return module
