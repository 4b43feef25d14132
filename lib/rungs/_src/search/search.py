"""The public batched search: arguments, results and errors are the same on every rung."""

import contextlib
import dataclasses
import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from typing import Any

import chess
import gymnasium.error
import numpy as np
from numpy.typing import ArrayLike

from rungs._src.chess.actions import NUM_ACTIONS
from rungs._src.chess.buffers import MAX_LEGAL
from rungs._src.chess.settings import checked_start
from rungs._src.chess.vector_env import ChessVectorEnv
from rungs._src.core.arguments import as_array, checked_actions, integer, shortened, shown
from rungs._src.core.exclusive import OneCaller
from rungs._src.core.memory import memory_for
from rungs._src.core.settings import split_settings
from rungs._src.search.cpp import CppTrees
from rungs._src.search.reference import PythonTrees
from rungs._src.search.result import Result, Tree
from rungs._src.search.settings import SearchSettings
from rungs._src.search.trees import Evaluation
from rungs._src.threads.helper import HelperThread
from rungs.errors import BusyError, ConfigurationError

# (observation, actions, counts) -> (logits, values), see `Search.run`.
Evaluator = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[Any, Any]]


@dataclasses.dataclass(frozen=True)
class RefreshedEvaluator:
    """An evaluator, and what refreshes it before each call or before all of a search's run."""

    refresh: Callable[[], None]
    evaluate: Evaluator

    def __call__(
        self, observation: np.ndarray, actions: np.ndarray, counts: np.ndarray
    ) -> tuple[Any, Any]:
        self.refresh()
        return self.evaluate(observation, actions, counts)


def uniform(
    observation: np.ndarray, actions: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The null evaluator: returns logits (B, 218) and values (B,), float32, all 0 and read-only."""
    return _zeros(len(counts))


@functools.lru_cache(maxsize=1024)
def _zeros(number: int) -> tuple[np.ndarray, np.ndarray]:
    logits, values = np.zeros((number, MAX_LEGAL), np.float32), np.zeros(number, np.float32)
    logits.flags.writeable = values.flags.writeable = False
    return logits, values


RUNGS = {"python": PythonTrees, "threads": CppTrees}

_MAX_GAMES = 2**20


class Search(OneCaller):
    """A tree search of many chess games at once, with one evaluator for the leaves of all.

    Each game has a tree in memory that is allocated once. A simulation selects a leaf, the leaves
    of all games are evaluated as a batch, and each value is backed up along its leaf's path. One
    leaf per game is evaluated at a time, so there is no virtual loss: results don't depend on the
    number of threads and batches, provided that the evaluation of a leaf doesn't depend on the
    other leaves of its batch.

    The rules are the environment's: a game ends by mate, stalemate, insufficient material, 50 moves
    or the third repetition, counted over the game and the path in the tree together. Such a leaf is
    worth exactly -1 or 0 to the side to move, and is not evaluated.

    Args:
        num_games: number of games, G, at least 1.
        batches: 1, or 2: while the leaves of one half of the games are evaluated, other threads
            grow the other half's trees. 2 is for an evaluator that leaves cores free, as on a GPU.
        rung: "threads", C++; or "python", the slow reference over python-chess, which makes the
            same trees, visit for visit.
        **settings: the fields of `rungs.search.SearchSettings`; and the rung's own, which affect
            only the time: see `rungs._src.search.cpp.CppTrees`.

    Raises:
        ConfigurationError: an argument is wrong; the message names it.
        UnavailableError: there is not enough memory for the trees.
    """

    def __init__(self, num_games: int, *, batches: int = 1, rung: str = "threads", **settings: Any):
        self.num_games = integer("num_games", num_games, 1, _MAX_GAMES)
        self._batches = min(integer("batches", batches, 1, 2), self.num_games)
        if not isinstance(rung, str) or rung not in RUNGS:
            rung_names = ", ".join(RUNGS)
            raise ConfigurationError(f"search has no rung {shown(rung)}; there are: {rung_names}")
        self.settings, rung_settings = split_settings(
            settings, SearchSettings, RUNGS[rung], type(self)
        )
        with memory_for(f"num_games={self.num_games} trees of {self.settings.nodes} nodes"):
            self._trees = RUNGS[rung](self.num_games, self.settings, self._batches, **rung_settings)
        self._helper = HelperThread()
        # Reentrant: an evaluator may look at the trees that are being searched.
        self._lock = threading.RLock()
        self._calls: str | None = None
        self._closed = False
        self.begin()

    @property
    def reasons(self) -> np.ndarray:
        """(G,) int8, a copy: why each game is over (`rungs.chess.Reason`), or 0."""
        with self._alone("reasons"):
            return self._trees.reasons.copy()

    def begin(
        self,
        games: ChessVectorEnv | Sequence[str] | str | None = None,
        which: ArrayLike | None = None,
    ) -> None:
        """Begins new games, without trees. A game that is over stays over until then.

        Args:
            games: a FEN for all, or (G,) FENs; None for the classical start. Or an environment of G
                boards, whose games are searched from their current positions, with the past that
                counts for repetition. Random numbers are then those of its boards' index, episode
                and ply, so that a restored environment is searched in the same way again.
            which: (G,) bool, the games that begin; None for all.

        Raises:
            ConfigurationError: an argument is wrong, or the environment's rung has boards that this
                search can't read; no game has changed.
            InvalidFenError: a FEN is none that an environment with lists of actions can start from;
                the message names the game.
            BusyError: another thread is in the environment, or in this search. For the latter all
                methods raise it.
            gymnasium.error.ResetNeeded: the environment was not reset yet.
            gymnasium.error.ClosedEnvironmentError: the environment or the search is closed.
        """
        with self._changing("begin"):
            chosen = self._which(which)
            if isinstance(games, ChessVectorEnv):
                if games.num_envs != self.num_games:
                    raise ConfigurationError(
                        f"games: an environment of {games.num_envs} boards, not {self.num_games}"
                    )
                for i, fen in enumerate(games.settings.start_fens or ()):  # lists must be enough
                    checked_start(f"games: start_fens[{i}]", fen, listed=True)
                self._trees.begin_boards(chosen, games)
            else:
                self._trees.begin_fens(chosen, self._fens(games, chosen))

    def run(
        self, evaluate: Evaluator, which: ArrayLike | None = None, simulations: int | None = None
    ) -> Result:
        """Searches games that are not over.

        Args:
            evaluate: is called with the leaves of a batch: observations (B, ...) of format `obs`,
                the legal actions (B, 218) int16, in order of id and padded with -1, and their
                number, (B,) int16. Returns logits (B, K) float32, of which row b's first
                `counts[b]` are read, and values (B,) float32, -1 to 1, to the side to move. B
                changes from call to call. The arrays passed are overwritten after the call; those
                returned may be overwritten by the next call.
            which: (G,) bool, the games to search; None for all.
            simulations: of each game, at most the constructor's number; None for that number.

        Raises:
            ConfigurationError: an argument or the evaluator's result is wrong. Trees keep what was
                found before.
            gymnasium.error.ClosedEnvironmentError: the search is closed.
        """
        with self._changing("run"):
            if not callable(evaluate):
                raise ConfigurationError(f"evaluate={shown(evaluate)} can't be called")
            limit = self.settings.simulations
            number = limit if simulations is None else integer("simulations", simulations, 1, limit)
            chosen = self._which(which)
            chosen = chosen[self._trees.reasons[chosen] == 0]
            result = Result.empty(self.num_games)
            if isinstance(evaluate, RefreshedEvaluator):
                evaluate.refresh()
                evaluate = evaluate.evaluate
            self._trees.start(chosen, number)
            if self._batches == 2:
                self._run_halves(evaluate)
            else:
                self._run_batch(evaluate)
            self._trees.finish(chosen, result)
            return result

    def look(self, game: int = 0, path: Sequence[int] = ()) -> Result:
        """Returns what visits have found after some actions, without a copy of the tree.

        An evaluator may call it for games of its own batch.

        Args:
            game: index of the game.
            path: the actions that lead from the root to a node; none for the root.

        Returns:
            A `Result` in which only the game's row is set, as that of a root, without `policy` and
            `chosen`; it is empty too where no simulation has gone on from that node.

        Raises:
            ConfigurationError: there is no such game, or something in `path` is no action.
        """
        with self._alone("look"):
            game = integer("game", game, 0, self.num_games - 1)
            actions = [
                integer(f"path[{i}]", action, 0, NUM_ACTIONS - 1) for i, action in enumerate(path)
            ]
            result = Result.empty(self.num_games)
            self._trees.look(game, np.array(actions, np.int16), result)
            return result if result.visits[game].any() else Result.empty(self.num_games)

    def advance(self, actions: ArrayLike) -> None:
        """Plays (G,) integers, where they are not -1, and keeps the trees below these actions.

        Raises:
            IllegalActionError: an action is not legal in its game, or the game is over; no game has
                changed.
            ConfigurationError: actions have a wrong shape or dtype.
            gymnasium.error.ClosedEnvironmentError: the search is closed.
        """
        with self._changing("advance"):
            self._trees.advance(checked_actions(actions, (self.num_games,)))

    def fens(self) -> list[str]:
        """Returns the position of every game as a FEN."""
        with self._alone("fens"):
            return [self._trees.fen(game) for game in range(self.num_games)]

    def tree(self, game: int) -> Tree:
        """Copies one game's tree. An evaluator may call it for games of its own batch."""
        with self._alone("tree"):
            return self._trees.tree(integer("game", game, 0, self.num_games - 1))

    def memory_bytes(self) -> int:
        """Returns the bytes of all trees and leaf buffers."""
        return self._trees.memory_bytes()

    def close(self) -> None:
        """Ends the thread that grows trees while the caller evaluates.

        Trees can still be read; `begin`, `run` and `advance` raise. May be called twice.
        """
        with self._alone("close"):
            if self._calls:
                raise BusyError(f"close: {self._calls} is in this search")
            self._closed = True
            self._helper.close()

    def __enter__(self) -> "Search":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _run_batch(self, evaluate: Evaluator) -> None:
        evaluation = None
        while number := self._trees.simulate(0, evaluation):
            evaluation = self._evaluate(evaluate, 0, number)

    def _run_halves(self, evaluate: Evaluator) -> None:
        """Evaluates one half's leaves while the helper grows the other's trees."""
        batch, waiting = 0, self._helper.submit(self._trees.simulate, 0, None).result()
        simulating: Future[int] = self._helper.submit(self._trees.simulate, 1, None)
        try:
            while True:
                evaluation = self._evaluate(evaluate, batch, waiting) if waiting else None
                next_waiting = simulating.result()
                if not waiting and not next_waiting:
                    return
                simulating = self._helper.submit(self._trees.simulate, batch, evaluation)
                batch, waiting = 1 - batch, next_waiting
        finally:
            wait([simulating])  # also if the evaluator has raised

    def _evaluate(self, evaluate: Evaluator, batch: int, number: int) -> Evaluation:
        observation, actions, counts = self._trees.leaves(batch, number)
        width = int(counts.max())
        answer = evaluate(observation, actions, counts)
        if not isinstance(answer, tuple | list) or len(answer) != 2:
            raise ConfigurationError(
                f"{_name(evaluate)} returned {shown(answer)}, not a pair (logits, values)"
            )
        # Copied if the evaluator is called again while these are read: it may reuse their memory.
        logits, values = (
            _floats(f"the {name} of {_name(evaluate)}", value, self._batches == 2)
            for name, value in zip(("logits", "values"), answer, strict=True)
        )
        if logits.ndim != 2 or len(logits) != number or logits.shape[1] < width:
            raise ConfigurationError(
                f"{_name(evaluate)}: logits have shape {logits.shape}, not ({number}, K) with K "
                f"at least {width}"
            )
        if values.shape != (number,):
            raise ConfigurationError(
                f"{_name(evaluate)}: values have shape {values.shape}, not ({number},)"
            )
        return logits, values

    def _which(self, which: ArrayLike | None) -> np.ndarray:
        """Returns the indices of games that a mask marks, (n,) int64."""
        if which is None:
            return np.arange(self.num_games)
        mask = as_array("which", which)
        if mask.shape != (self.num_games,) or mask.dtype != np.bool_:
            raise ConfigurationError(
                f"which: shape {mask.shape} and dtype {mask.dtype}, not ({self.num_games},) bool"
            )
        return np.flatnonzero(mask)

    def _fens(self, games: Sequence[str] | str | None, which: np.ndarray) -> list[str]:
        """Returns the checked FENs of games, (n,) int64 indices."""
        if games is None:
            games = chess.STARTING_FEN
        if isinstance(games, str):
            return [checked_start("games", games, listed=True)] * len(which)
        if not isinstance(games, Sequence) or len(games) != self.num_games:
            raise ConfigurationError(
                f"games={shown(games)}: not an environment, a FEN or {self.num_games} FENs"
            )
        return [checked_start(f"games[{i}]", games[i], listed=True) for i in which.tolist()]

    @contextlib.contextmanager
    def _changing(self, method: str) -> Iterator[None]:
        """Rejects a call while another is running, also one by the evaluator, or after `close`."""
        with self._alone(method):
            if self._calls:
                raise BusyError(f"{method}: {self._calls} is in this search")
            if self._closed:
                raise gymnasium.error.ClosedEnvironmentError(f"{method}: the search is closed")
            try:
                self._calls = method
                yield
            finally:
                self._calls = None


def _name(evaluate: Evaluator) -> str:
    named = getattr(evaluate, "__qualname__", type(evaluate).__qualname__)
    return f"the evaluator {shortened(str(named))}"


def _floats(name: str, value: object, copy: bool) -> np.ndarray:
    """Returns real numbers as contiguous float32; those out of range become infinite."""
    array = as_array(name, value)
    if array.dtype == np.bool_ or not np.can_cast(array.dtype, np.float32, "same_kind"):
        raise ConfigurationError(f"{name}: dtype {array.dtype}, not float32")
    with np.errstate(over="ignore"):
        return np.array(array, np.float32, order="C", copy=copy or None)
