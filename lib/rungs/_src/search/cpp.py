"""The search in C++, the trees of `cpp/search`, in memory that NumPy owns."""

import ctypes
from typing import Any

import numpy as np

from rungs._src.chess.boards.cpp import CppBoards
from rungs._src.chess.boards.native import fens_at, parse_fen
from rungs._src.chess.buffers import MAX_LEGAL
from rungs._src.chess.observation import OBSERVATIONS, format_name
from rungs._src.chess.vector_env import ChessVectorEnv
from rungs._src.core.memory import zeroed_lines
from rungs._src.native import loader
from rungs._src.native.abi import Structure, described
from rungs._src.search.result import Result, Tree
from rungs._src.search.settings import Gumbel, Puct, SearchSettings
from rungs._src.search.trees import Evaluation, Leaves, Trees
from rungs._src.threads.pool import pool_of, thread_count
from rungs.errors import ConfigurationError


class CppTrees(Trees):
    """Trees in C++; the games are divided among threads, which affects only the time."""

    def __init__(
        self,
        num_games: int,
        settings: SearchSettings,
        batches: int,
        *,
        threads: int | None = None,  # at most; by default one per usable core
        compiler: str | None = None,  # see `rungs._src.native.loader.load`
    ):
        super().__init__(num_games, settings, batches)
        self.threads, self._fewer = thread_count(threads), threads is None
        self._api = loader.load(compiler)
        structures = described(self._api).structures
        shape, dtype = OBSERVATIONS[settings.obs, settings.dtype]  # type: ignore[index]  # made one
        histories = num_games if settings.obs != "board" else 0
        trees = 2 if settings.keep else 1  # a kept subtree is copied to the second
        self._nodes = np.zeros((trees, num_games, settings.nodes), structures["Node"])
        edges = (trees, num_games, settings.edges)
        self._priors = np.zeros(edges, np.float32)
        self._edge_actions = np.zeros(edges, np.int16)
        self._stats = np.zeros(edges, structures["Stats"])
        self._observation = np.zeros((num_games, *shape), dtype)
        self._actions = np.full((num_games, MAX_LEGAL), -1, np.int16)
        self._counts = np.zeros(num_games, np.int16)
        self._games = zeroed_lines(num_games * self._api.rungs_search_game_bytes())
        self._history = np.zeros(
            (histories, described(self._api).constants["history_bytes"]), np.uint8
        )
        self._episodes = np.zeros(num_games, np.int64)
        self._batch: Any = structures["TreeBatch"](
            settings=_settings(structures["Settings"], settings),
            num_games=num_games,
            game=self._games,
            history=self._history if histories else None,
            trees=structures["TreeMemory"](
                node=self._nodes, prior=self._priors, action=self._edge_actions, stats=self._stats
            ),
            schedule=None,
            observation=self._observation,
            actions=self._actions,
            counts=self._counts,
        )
        self._address = ctypes.addressof(self._batch)

    def begin_fens(self, which: np.ndarray, fens: list[str]) -> None:
        different = {fen: parse_fen(self._api, fen) for fen in dict.fromkeys(fens)}
        for game, fen in zip(which.tolist(), fens, strict=True):
            position = different[fen].ctypes.data
            self._api.rungs_search_begin_position(
                self._address, game, position, int(self._episodes[game])
            )
        self._episodes[which] += 1
        self._update_reasons()

    def begin_boards(self, which: np.ndarray, env: ChessVectorEnv) -> None:
        if not isinstance(env.boards, CppBoards):
            raise ConfigurationError(
                "games: this search needs boards of the rungs cpp, openmp or threads"
            )
        if self.settings.obs != "board" and env.settings.obs == "board":
            raise ConfigurationError(f"games: obs={self.settings.obs!r} needs boards with history")
        saved, past = env.snapshot(which).boards
        histories = past.ctypes.data if len(past) else 0
        error = self._api.rungs_search_begin_boards(
            self._address, which.ctypes.data, len(which), saved.ctypes.data, histories
        )
        if error:
            raise ConfigurationError(
                f"games: board {which[-1 - error]} has more pieces than promotions make, and maybe "
                "more moves than are listed"
            )
        self._update_reasons()

    def start(self, which: np.ndarray, simulations: int) -> None:
        if isinstance(self.settings.policy, Gumbel):
            considered = self.settings.policy.considered
            self._schedule = np.empty((considered + 1, simulations), np.int32)
            self._batch.schedule = self._schedule.ctypes.data
            self._api.rungs_search_halving(considered, simulations, self._batch.schedule)
        self._api.rungs_search_start(self._address, which.ctypes.data, len(which), simulations)

    def simulate(self, batch: int, evaluation: Evaluation | None) -> int:
        games, pointers = self.batches[batch], (0, 0, 0)
        if evaluation is not None:
            logits, values = evaluation
            pointers = (logits.ctypes.data, logits.shape[1], values.ctypes.data)
        leaves = self._api.rungs_search_simulate(
            self._address, games.start, games.stop, *pointers, *self._pool()
        )
        if leaves < 0:
            raise self.invalid_evaluation(-1 - leaves)
        return leaves

    def leaves(self, batch: int, number: int) -> Leaves:
        first = self.batches[batch].start
        rows = slice(first, first + number)
        return self._observation[rows], self._actions[rows], self._counts[rows]

    def look(self, game: int, path: np.ndarray, result: Result) -> None:
        results = described(self._api).structures["GameResult"](**vars(result))
        self._api.rungs_search_look(
            self._address, game, path.ctypes.data, len(path), ctypes.addressof(results)
        )

    def finish(self, which: np.ndarray, result: Result) -> None:
        structures = described(self._api).structures
        results = structures["GameResult"](**vars(result))
        self._api.rungs_search_finish(
            self._address, which.ctypes.data, len(which), ctypes.addressof(results), *self._pool()
        )

    def advance(self, actions: np.ndarray) -> None:
        illegal = self._api.rungs_search_advance(self._address, actions, *self._pool())
        if illegal:
            game = -1 - illegal
            raise self.illegal(game, int(actions[game]))
        self._update_reasons()

    def fen(self, game: int) -> str:
        return fens_at(self._api, self._api.rungs_search_position(self._address, game))[0]

    def tree(self, game: int) -> Tree:
        sizes = np.zeros(4, np.int64)
        self._api.rungs_search_tree(self._address, game, sizes.ctypes.data)
        active, num_nodes, num_edges, num_stats = sizes.tolist()
        nodes, stats = self._nodes[active, game, :num_nodes], self._stats[active, game, :num_stats]
        actions = self._edge_actions[active, game, :num_edges].copy()
        # The index of each edge's statistics, which a node gets when it is opened.
        edge = np.arange(num_edges) + np.repeat(nodes["stats"] - nodes["first"], nodes["count"])
        edges = stats[edge]
        action_of = np.full(num_stats + 1, -1, np.int16)  # the last is the root's
        action_of[edge] = actions
        return Tree(
            action=action_of[nodes["edge"]],
            **{
                name: nodes[name].copy()
                for name in ("parent", "visits", "raw_value", "reason", "first", "count")
            },
            edge_action=actions,
            edge_prior=self._priors[active, game, :num_edges].copy(),
            **{f"edge_{name}": edges[name].copy() for name in ("visits", "value_sum", "child")},
        )

    def memory_bytes(self) -> int:
        leaves = (self._observation, self._actions, self._counts)
        trees = (self._nodes, self._priors, self._edge_actions, self._stats)
        return sum(array.nbytes for array in (*leaves, *trees, self._games, self._history))

    def _pool(self) -> tuple[int, int]:
        """Returns the address of the calling thread's thread pool, 0 for none, and its size."""
        return pool_of(self._api, self.threads, self._fewer), self.threads

    def _update_reasons(self) -> None:
        self._api.rungs_search_reasons(self._address, self.reasons.ctypes.data)


def _settings(structure: type[Structure], settings: SearchSettings) -> Structure:
    policy = settings.policy
    others = dict.fromkeys((*vars(Gumbel()), *vars(Puct())), 0)  # 0 for the other policy's
    return structure(
        seed=settings.seed,
        policy="GUMBEL" if isinstance(policy, Gumbel) else "PUCT",
        observation=format_name(settings.obs, settings.dtype),  # type: ignore[arg-type]  # made one
        nodes=settings.nodes,
        edges=settings.edges,
        kept_nodes=settings.kept_nodes,
        kept_edges=settings.kept_edges,
        keep=settings.keep,
        **(others | vars(policy)),
    )
