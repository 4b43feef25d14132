"""The interface of a rung of the search: the trees of all games."""

import abc
import itertools

import numpy as np

from rungs._src.chess.actions import move_of
from rungs._src.chess.fen import board_of
from rungs._src.chess.vector_env import ChessVectorEnv
from rungs._src.search.result import Result, Tree
from rungs._src.search.settings import SearchSettings
from rungs.errors import ConfigurationError, IllegalActionError

# Arguments and results of an evaluator: (observation, actions, counts) and (logits, values), the
# latter (n, K) and (n,) float32 in C order, for n leaves that wait.
Leaves = tuple[np.ndarray, np.ndarray, np.ndarray]
Evaluation = tuple[np.ndarray, np.ndarray]


class Trees(abc.ABC):
    """The G games and trees of a `Search`, which checks arguments; what raises changes nothing."""

    def __init__(self, num_games: int, settings: SearchSettings, batches: int):
        self.num_games, self.settings = num_games, settings
        ends = [num_games * batch // batches for batch in range(batches + 1)]
        self.batches = [slice(*pair) for pair in itertools.pairwise(ends)]
        self.reasons = np.zeros(num_games, np.int8)  # why each game is over, or 0

    @abc.abstractmethod
    def begin_fens(self, which: np.ndarray, fens: list[str]) -> None:
        """Begins games, (n,) int64 indices, at a FEN each that `checked_start` has accepted."""

    @abc.abstractmethod
    def begin_boards(self, which: np.ndarray, env: ChessVectorEnv) -> None:
        """Begins games, (n,) int64 indices, at boards; raises ConfigurationError if it can't."""

    @abc.abstractmethod
    def start(self, which: np.ndarray, simulations: int) -> None:
        """Begins a search of `simulations` in games, (n,) int64 indices; others aren't searched."""

    @abc.abstractmethod
    def simulate(self, batch: int, evaluation: Evaluation | None) -> int:
        """Backs waiting leaves up, and simulates; returns how many games of a batch wait next."""

    @abc.abstractmethod
    def leaves(self, batch: int, number: int) -> Leaves:
        """Returns the `number` leaves of a batch that wait; `simulate` overwrites them."""

    @abc.abstractmethod
    def finish(self, which: np.ndarray, result: Result) -> None:
        """Writes the results of games, (n,) int64 indices, to their rows."""

    @abc.abstractmethod
    def look(self, game: int, path: np.ndarray, result: Result) -> None:
        """Writes visits and values at the end of a path, (n,) int16, to a game's row."""

    @abc.abstractmethod
    def advance(self, actions: np.ndarray) -> None:
        """Plays (G,) int64 actions, -1 for none, and keeps subtrees; raises IllegalActionError."""

    @abc.abstractmethod
    def fen(self, game: int) -> str:
        """Returns the position of a game."""

    @abc.abstractmethod
    def tree(self, game: int) -> Tree:
        """Copies a game's tree."""

    @abc.abstractmethod
    def memory_bytes(self) -> int:
        """Returns the bytes of all trees and leaf buffers."""

    def illegal(self, game: int, action: int) -> IllegalActionError:
        fen = self.fen(game)
        move = move_of(action, board_of(fen))
        return IllegalActionError.of(game, action, move.uci() if move else None, fen)

    def invalid_evaluation(self, game: int) -> ConfigurationError:
        return ConfigurationError(
            f"game {game}: the evaluator's logits and value must be numbers, the value from -1 to "
            f"1: for {self.fen(game)} they hold NaN or infinity (-inf may be a logit, but not of "
            "all actions), or a value out of range"
        )
