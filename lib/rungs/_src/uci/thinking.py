"""An agent that thinks about one position at a time, and keeps its tree from move to move."""

import contextlib
import gc
import threading
import time
from pathlib import Path
from typing import Final

import chess
import numpy as np
import torch

from rungs._src.chess.actions import move_of
from rungs._src.core.progress import Say
from rungs._src.search.result import Result
from rungs._src.search.search import Evaluator, Search
from rungs._src.search.settings import MAX_SIMULATIONS, Policy
from rungs._src.selfplay import agent
from rungs._src.selfplay.learning import cpp_or_torch_evaluator
from rungs._src.selfplay.players import NOISELESS, stronger_rule
from rungs._src.train.evaluate import NetworkEvaluator
from rungs._src.uci.request import Game, Limits, Options
from rungs._src.uci.score import centipawns, permille
from rungs.errors import InvalidFenError

# PUCT searches in calls of so many simulations: between them the clock is looked at even where no
# leaf is evaluated, because all end the game.
_CALL: Final = 256
_REPORT_SECONDS: Final = 1.0


class _TimeIsUpError(Exception):
    """Ends a search from within its evaluator."""


class Thinker:
    """A network with a search without noise, for one game.

    Args:
        evaluate: the network.
        say: gets lines for the controller.
        about: what the network is; the controller is told with the first move.
    """

    def __init__(self, evaluate: Evaluator, say: Say, about: str = ""):
        self._evaluate, self._say, self._about = evaluate, say, about
        self._search: Search | None = None
        self._start: str | None = None  # of the game that the search has followed
        self._actions: list[int] = []
        self._seed: int | None = None

    @classmethod
    def load(cls, path: Path, say: Say) -> "Thinker":
        """Loads an agent's file; raises as `rungs._src.selfplay.agent.load`."""
        torch.set_num_threads(1)  # which one position at a time is fastest with
        loaded = agent.load(path)
        evaluate = cpp_or_torch_evaluator(loaded.network)
        language = "PyTorch" if isinstance(evaluate, NetworkEvaluator) else "C++"
        gc.collect()
        gc.freeze()  # to look at what stays takes a hundred milliseconds, in which a clock runs
        return cls(evaluate, say, f"{loaded.name}, computed by {language}")

    def forget(self) -> None:
        """Discards the tree."""
        self._start = None

    def think(
        self,
        game: Game,
        limits: Limits,
        options: Options,
        began: float,
        stopped: threading.Event,
    ) -> chess.Move | None:
        """Returns the move to play, or None where there is none.

        Reports lines every second and at the end. Limits count from `began`, by
        `time.perf_counter`; the first simulation is made in any case.
        """
        if self._about:
            self._say(f"info string {self._about}")
            self._about = ""
        if not any(game.board.legal_moves):
            score = "mate 0" if game.board.is_check() else "cp 0"
            self._say(f"info depth 0 score {score}")
            return None
        if options.seed != self._seed:
            self._seed, self._rng = options.seed, np.random.default_rng(options.seed)
        policy = self._policy(limits, options)
        self._board, self._options, self._stopped = game.board, options, stopped
        self._began, self._until = began, began + limits.seconds
        self._chosen = -1
        try:
            search = self._search_by(policy, limits, options)
            self._follow(search, game)
        except InvalidFenError as error:
            self._say(f"info string the first legal move, as no search is possible: {error}")
            return next(iter(game.board.legal_moves))
        self._kept, self._leaves, self._longest = int(search.look().visits.sum()), 0, 0
        self._reported, left = began, limits.simulations
        with contextlib.suppress(_TimeIsUpError):
            while left > 0:
                count = int(left if policy == "gumbel" else min(left, _CALL))
                result = search.run(self._evaluate_leaf, simulations=count)
                left = 0 if self._is_time_up() else left - count
            if policy == "gumbel":
                self._chosen = int(result.chosen[0])
        action = self._report()
        if options.temperature:
            action = self._drawn(search.look())
        return move_of(action, game.board)

    def _policy(self, limits: Limits, options: Options) -> Policy:
        """Returns the search's rule: Gumbel's has to know its number of simulations in advance."""
        known = limits.simulations <= MAX_SIMULATIONS
        if options.rule == "gumbel" and not known:
            self._say(
                f"info string by PUCT, as Gumbel's rule needs a number of simulations, at most "
                f"{MAX_SIMULATIONS}"
            )
        if options.rule == "auto" and known:
            return stronger_rule(int(limits.simulations))
        return "gumbel" if options.rule == "gumbel" and known else "puct"

    def _search_by(self, policy: Policy, limits: Limits, options: Options) -> Search:
        """Returns the search as it was, with its tree, or a new one where options have changed."""
        simulations = int(limits.simulations) if policy == "gumbel" else _CALL
        search = self._search
        if (
            search is None
            or search.settings.policy != NOISELESS[policy]
            or search.settings.simulations < simulations
            or search.settings.nodes != max(options.hash, search.settings.simulations + 1)
        ):
            nodes, rule = max(options.hash, simulations + 1), NOISELESS[policy]
            search = Search(1, policy=rule, simulations=simulations, nodes=nodes, threads=1)
            self._search, self._start = search, None
        return search

    def _follow(self, search: Search, game: Game) -> None:
        """Takes a search to a game's position, with the tree of its moves so far.

        The rules of the environment end a game by repetition or 50 moves, which a controller may
        continue: the search then begins there, without the past. Raises InvalidFenError where it
        can't.
        """
        if self._start != game.start or game.actions[: len(self._actions)] != self._actions:
            self._start, self._actions = None, []
            search.begin(_unended(game.start))
            self._start = game.start
        for action in [*game.actions[len(self._actions) :], None]:
            if search.reasons[0]:
                search.begin(_unended(search.fens()[0]))
            if action is not None:
                search.advance([action])
                self._actions.append(action)

    def _evaluate_leaf(
        self, observation: np.ndarray, actions: np.ndarray, counts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        if self._leaves > 1:  # the root's, and that of a first simulation
            if self._is_time_up():
                raise _TimeIsUpError
            if time.perf_counter() - self._reported >= _REPORT_SECONDS:
                self._report()
        self._leaves += 1
        return self._evaluate(observation, actions, counts)

    def _is_time_up(self) -> bool:
        return self._stopped.is_set() or time.perf_counter() >= self._until

    def _report(self) -> int:
        """Reports the best lines so far; returns the action that the first begins with."""
        assert self._search is not None
        self._reported = time.perf_counter()
        root = self._search.look()
        visits, values = root.visits[0], root.action_values[0]
        order = np.lexsort((-values, -visits, root.actions[0] != self._chosen))
        order = order[visits[order] > 0][: self._options.multi_pv]
        lines = [self._line(int(root.actions[0, k])) for k in order]
        self._longest = max(self._longest, *map(len, lines))
        nodes, seconds = int(visits.sum()) - self._kept, max(1e-3, self._reported - self._began)
        for number, (k, line) in enumerate(zip(order, lines, strict=True), 1):
            value = float(values[k])
            wdl = " wdl {} {} {}".format(*permille(value)) if self._options.show_wdl else ""
            self._say(
                f"info depth {len(line)} seldepth {self._longest} multipv {number} "
                f"score cp {centipawns(value)}{wdl} nodes {nodes} nps {nodes / seconds:.0f} "
                f"time {1000 * seconds:.0f} pv {' '.join(line)}"
            )
        return int(root.actions[0, order[0]])

    def _line(self, action: int) -> list[str]:
        """Returns the moves from an action on, each the one with the most visits."""
        assert self._search is not None
        board, path, line = self._board.copy(stack=False), [action], []
        while True:
            move = move_of(path[-1], board)
            assert move  # it is legal
            line.append(move.uci())
            board.push(move)
            node = self._search.look(0, path)
            if not node.visits.any():
                return line
            path.append(int(node.actions[0, node.visits[0].argmax()]))

    def _drawn(self, root: Result) -> int:
        """Draws an action of the root with probability visits^(1 / temperature)."""
        visits = root.visits[0] / root.visits[0].max()
        weights = visits ** (100 / self._options.temperature)
        return int(self._rng.choice(root.actions[0], p=weights / weights.sum()))


def _unended(fen: str) -> str:
    """Returns a FEN with a halfmove clock that does not end the game."""
    fields = fen.split(" ")
    if len(fields) == 6 and int(fields[4]) >= 100:
        fields[4] = "0"
    return " ".join(fields)
