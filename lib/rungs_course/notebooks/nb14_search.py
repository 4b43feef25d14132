"""One search in plain Python, over OpenSpiel's states and over our boards: who plays its moves?"""

import dataclasses
import functools
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import rungs
from rungs.chess import NUM_ACTIONS, random_actions
from rungs.search import Puct, Search
from rungs_course.measure.turns import timed_rounds
from rungs_course.measure.verify import assert_same
from rungs_course.peers import imported
from rungs_course.peers.open_spiel import TO_OURS, load_chess, to_open_spiel

PARTS = ("environment", "tree", "evaluator")
_PUCT = Puct(fraction=0.0, temperature=0.0)  # without noise

# (positions, legal actions of each, its value to the side to move; no actions where it is over)
Positions = tuple[list[Any], list[list[int]], list[float]]


class Boards:
    """Games of the rung `cpp`: one call steps all of them."""

    def __init__(self, num_games: int, seed: int):
        self._env: Any = rungs.make("chess", "cpp", num_games, mask="list")
        self.info = self._env.reset(seed=seed)[1]
        self._which = np.arange(num_games)

    def play(self, actions: np.ndarray) -> None:
        """Plays an action in each game, and begins the next where one ends."""
        _, self._reward, self._over, _, self.info = self._env.step(actions)

    def positions(self) -> Positions:
        """Returns a copy of each game's position."""
        saved, self._past = self._env.boards.save(self._which)
        counts = enumerate(self.info["action_count"].tolist())
        legal = [self.info["action_mask"][i, :count].tolist() for i, count in counts]
        return list(saved), legal, [0.0] * len(legal)

    def after(self, positions: list[np.ndarray], actions: list[int]) -> Positions:
        """Returns positions after an action in each."""
        spare = len(self._which) - len(positions)  # boards that step for nothing
        boards = np.stack(positions + positions[-1:] * spare)
        self._env.boards.put((boards, self._past), self._which, False)
        self.play(np.array(actions + actions[-1:] * spare))
        saved, legal, _ = self.positions()
        legal = [[] if end else row for row, end in zip(legal, self._over.tolist(), strict=True)]
        number = len(positions)
        return saved[:number], legal[:number], (-self._reward[:number]).tolist()

    def begin(self, search: Search) -> None:
        """Begins a search of the library at the same positions."""
        search.begin(self._env)


class States:
    """Games of OpenSpiel: a state each, cloned and played one by one, as its searches do."""

    def __init__(self, num_games: int):
        game = load_chess()
        observing = imported("OpenSpiel", "open_spiel.python.observation")
        self._observation = observing.make_observation(game)
        shape = (num_games, *self._observation.tensor.shape)
        self._observations = np.empty(shape, np.float32)  # what a network would get
        self._initial = game.new_initial_state()
        self._states = [self._initial.clone() for _ in range(num_games)]

    def play(self, actions: np.ndarray) -> None:
        """Plays an action in each game, in our ids, and begins the next where one ends."""
        for i, action in enumerate(actions.tolist()):
            state = self._states[i]
            state.apply_action(to_open_spiel(action, state.legal_actions()))
            if state.is_terminal():
                self._states[i] = self._initial.clone()

    def positions(self) -> Positions:
        """Returns each game's position."""
        legal = [state.legal_actions() for state in self._states]
        return self._states, legal, [0.0] * len(legal)

    def after(self, positions: list, actions: list[int]) -> Positions:
        """Returns positions after an action in each."""
        states, legal, values = [], [], []
        for i, (position, action) in enumerate(zip(positions, actions, strict=True)):
            state = position.clone()
            state.apply_action(action)
            self._observation.set_from(state, 0)
            self._observations[i] = self._observation.tensor
            states.append(state)
            legal.append(state.legal_actions())
            values.append(0.0 if legal[-1] else -max(state.returns()))
        return states, legal, values


@dataclasses.dataclass(eq=False)
class Node:
    """A position in a tree, and the statistics of its actions."""

    position: Any
    actions: list[int]
    value: float
    priors: list[float]

    def __post_init__(self) -> None:
        self.visits, self.sums = [0] * len(self.actions), [0.0] * len(self.actions)
        self.children: list[Node | None] = [None] * len(self.actions)

    def best(self) -> int:
        """Returns the index of the action with the highest score: see `Puct`."""
        total = 1 + sum(self.visits)
        reach = math.log((1 + total + _PUCT.c_base) / _PUCT.c_base) + _PUCT.c_init
        reach *= math.sqrt(total)
        statistics = zip(self.priors, self.visits, self.sums, strict=True)
        scores = [
            (values / visits if visits else 0.0) + reach * prior / (1 + visits)
            for prior, visits, values in statistics
        ]
        return scores.index(max(scores))


def search(
    games: Boards | States, starts: Positions, simulations: int, evaluate: Callable[[list], list]
) -> tuple[list[Node], dict[str, float]]:
    """Searches from some positions by PUCT; returns the roots, and the seconds of `PARTS`.

    `evaluate` takes the legal actions of each leaf, and returns their priors; it finds every
    position equal.
    """
    begin = time.perf_counter()
    seconds = dict.fromkeys(PARTS, 0.0)
    roots = list(map(Node, *starts, evaluate(starts[1])))
    for _ in range(simulations):
        paths = [descend(root) for root in roots]
        edges = [path[-1] for path, leaf in paths if leaf is None]
        if edges:
            start = time.perf_counter()
            new = games.after(
                [node.position for node, _ in edges], [node.actions[k] for node, k in edges]
            )
            stepped = time.perf_counter()
            priors = evaluate(new[1])
            seconds["environment"] += stepped - start
            seconds["evaluator"] += time.perf_counter() - stepped
            for (node, k), *leaf in zip(edges, *new, priors, strict=True):
                node.children[k] = Node(*leaf)
        for path, _ in paths:
            back_up(path)
    seconds["tree"] = time.perf_counter() - begin - sum(seconds.values())
    return roots, seconds


def descend(root: Node) -> tuple[list[tuple[Node, int]], Node | None]:
    """Returns the nodes and indices of actions to a leaf; and the leaf, if the game is over there,
    or None, if it is to be made.
    """
    path, node = [], root
    while node and node.actions:
        path.append((node, node.best()))
        node = node.children[path[-1][1]]  # type: ignore[assignment]
    return path, node


def back_up(path: list[tuple[Node, int]]) -> None:
    """Adds the value of the leaf at the end of a path to all actions that led there."""
    node, k = path[-1]
    value = node.children[k].value  # type: ignore[union-attr]  # it was made
    for node, k in reversed(path):
        value = -value
        node.visits[k] += 1
        node.sums[k] += value


def in_play(num_games: int, plies: int, seed: int) -> tuple[Boards, States]:
    """Plays the same random plies on our boards and OpenSpiel's states, and raises MismatchError
    where legal moves differ.
    """
    boards, states = Boards(num_games, seed), States(num_games)
    rng = np.random.default_rng(seed)
    for _ in range(plies):
        actions = random_actions(boards.info["action_mask"], rng)
        boards.play(actions)
        states.play(actions)
        pairs = zip(boards.positions()[1], states.positions()[1], strict=True)
        for i, (of_board, of_state) in enumerate(pairs):
            assert_same(f"legal moves of game {i}", np.sort(TO_OURS[of_state]), np.array(of_board))
    return boards, states


def check(
    boards: Boards, states: States, starts: list[Positions], simulations: int, seed: int
) -> None:
    """Raises MismatchError unless both searches and the library's visit the same, with priors that
    leave no ties.
    """
    logits = np.random.default_rng(seed).random(NUM_ACTIONS, np.float32)

    def priors(ids: np.ndarray, legal: list[list[int]]) -> list[list[float]]:
        rows = [np.exp(logits[ids[actions]], dtype=np.float64) for actions in legal]
        # The library's priors are float32, too.
        return [(row / row.sum()).astype(np.float32).tolist() for row in rows]

    def evaluate(observation, actions, counts):
        return logits[actions], np.zeros(len(counts), np.float32)

    num_games = len(starts[0][0])
    with Search(num_games, simulations=simulations, policy=_PUCT) as library:
        boards.begin(library)
        expected = library.run(evaluate).visits
    sides: Any = zip((boards, states), starts, (np.arange(NUM_ACTIONS), TO_OURS), strict=True)
    for games, positions, ids in sides:
        roots, _ = search(games, positions, simulations, functools.partial(priors, ids))
        for i, root in enumerate(roots):
            visits = np.array(root.visits, np.int32)[np.argsort(ids[root.actions])]
            name = f"{type(games).__name__}: visits of game {i}"
            assert_same(name, visits, expected[i, : len(visits)])


def race(
    num_games: int,
    *,
    simulations: int,
    infer_seconds: float,
    plies: int,
    repeats: int,
    warmup: int,
    seed: int,
) -> pd.DataFrame:
    """Times searches over OpenSpiel's states and over our boards, which take turns, from positions
    after some random plies. An evaluator sleeps `infer_seconds` a leaf, and so takes no core.

    Raises MismatchError unless both have the same legal moves and the same visits. Returns a row
    per racer, repeat and part of a move (of `PARTS`): `racer`, `repeat`, `part`, `seconds`.
    """

    def evaluate(legal: list[list[int]]) -> list[list[float]]:
        until = time.perf_counter() + infer_seconds * sum(map(bool, legal))
        priors = [[1 / len(actions)] * len(actions) if actions else [] for actions in legal]
        time.sleep(max(0.0, until - time.perf_counter()))
        return priors

    boards, states = in_play(num_games, plies, seed)
    starts = [boards.positions(), states.positions()]
    check(boards, states, starts, simulations, seed)
    games: dict[str, Boards | States] = {"cpp": boards, "OpenSpiel": states}
    racers = {
        name: functools.partial(search, games[name], positions, simulations, evaluate)
        for name, positions in zip(games, starts, strict=True)
    }
    rows = [
        (name, repeat, part, seconds / num_games)
        for name, repeat, (_, parts) in timed_rounds(racers, repeats=repeats, warmup=warmup)
        for part, seconds in parts.items()
    ]
    return pd.DataFrame(rows, columns=["racer", "repeat", "part", "seconds"])
