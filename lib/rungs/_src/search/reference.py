"""The search over python-chess, the reference: the operations of `cpp/search` in the same order."""

import dataclasses
import math

import numpy as np

from rungs._src.chess.boards.python import PythonBoards
from rungs._src.chess.env import ChessEnv
from rungs._src.chess.reason import Reason
from rungs._src.chess.vector_env import ChessVectorEnv
from rungs._src.core.buffers import Buffers
from rungs._src.search.numerics import Draws, exp, log
from rungs._src.search.result import Result, Tree
from rungs._src.search.settings import Gumbel, Puct, SearchSettings, halving
from rungs._src.search.trees import Evaluation, Leaves, Trees
from rungs.errors import ConfigurationError

# Priors are at least the smallest normal float32, so that their logarithm is finite.
_MIN_PRIOR = float(np.finfo(np.float32).tiny)
_MIN_SCORE = -1e9


@dataclasses.dataclass(eq=False)
class Edge:
    """A legal action at a node, and its statistics."""

    action: int
    prior: float = 0.0
    visits: int = 0
    value_sum: float = 0.0  # to the side to move at the node
    child: "Node | None" = None


@dataclasses.dataclass(eq=False)
class Node:
    """An evaluated position, or one in which the game is over."""

    env: ChessEnv
    parent: "Node | None"
    edge: Edge | None  # from the parent
    edges: list[Edge]
    num_visited: int = 0  # visited edges come first, except at the root
    visits: int = 0
    raw_value: float = 0.0

    def put_best_unvisited_next(self) -> None:
        """Moves the unvisited edge with the highest prior to just after the visited ones."""
        if self.num_visited < len(self.edges):
            best = max(self.edges[self.num_visited :], key=lambda edge: edge.prior)
            self.edges.remove(best)
            self.edges.insert(self.num_visited, best)


class ImprovedPolicy:
    """The improved policy of a node, softmax(logits + sigma(completed q)): see `Gumbel`."""

    def __init__(self, node: Node, policy: Gumbel):
        visited = [edge for edge in node.edges if edge.visits]
        qvalues = [edge.value_sum / edge.visits for edge in visited]
        probability = weighted = unvisited_prior = 0.0
        for edge, value in zip(visited, qvalues, strict=True):
            probability += edge.prior
            weighted += edge.prior * value
        for edge in node.edges:
            if not edge.visits:
                unvisited_prior += edge.prior
        visits = node.visits - 1
        self._mixed_value = node.raw_value
        if visited:
            mean = weighted / probability
            self._mixed_value = (node.raw_value + visits * mean) / (visits + 1)
        if len(visited) < len(node.edges):
            qvalues.append(self._mixed_value)
        max_visits = max((edge.visits for edge in visited), default=0)
        self._factor = (policy.maxvisit_init + max_visits) * policy.value_scale / 2
        self._max_sigma = self._sigma(max(qvalues))
        self.mass = 0.0  # the sum of all weights
        for edge in visited:
            self.mass += self.weight(edge)
        if len(visited) < len(node.edges):
            self.mass += unvisited_prior * exp(self._sigma(self._mixed_value) - self._max_sigma)

    def _sigma(self, value: float) -> float:
        return value * self._factor

    def sigma(self, edge: Edge) -> float:
        """Returns sigma(completed q), which is added to an action's logit."""
        return self._sigma(edge.value_sum / edge.visits if edge.visits else self._mixed_value)

    def weight(self, edge: Edge) -> float:
        """Returns an action's unnormalised probability."""
        return edge.prior * exp(self.sigma(edge) - self._max_sigma)


class Game:
    """One game and its tree; `number` is its index among all games."""

    env: ChessEnv  # at the root
    draws: Draws

    def __init__(self, number: int, settings: SearchSettings):
        self.settings = settings
        self._number, self._episode = number, 0
        self.nodes: list[Node] = []  # in order of creation
        self.leaf: Node | None = None  # waits for its evaluation
        self._simulations_left = 0

    def begin_fen(self, env: ChessEnv) -> None:
        """Begins at the start of an environment, as the next episode of this game."""
        self._begin(env, Draws(self.settings.seed, self._number, self._episode, 0))
        self._episode += 1

    def begin_board(self, env: ChessEnv) -> None:
        """Begins at the state of an environment, with its random numbers."""
        self._begin(env, Draws(self.settings.seed, env.number, env.episode, env.ply))

    def start(self, simulations: int) -> None:
        self._simulations = self._simulations_left = simulations
        self.leaf = None
        self._noisy_priors: list[float] = []

    def simulate(self, out: Buffers, row: int) -> bool:
        """Simulates until a leaf waits, which is written to a row; returns whether one does."""
        while self._simulations_left:
            leaf = self._select_leaf(out, row)
            if not leaf.env.reason:
                self.leaf = leaf
                return True
            leaf.raw_value = -1.0 if leaf.env.reason == Reason.CHECKMATE else 0.0
            self._insert_and_backup(leaf, leaf.raw_value)
        return False

    def expand_and_backup(self, logits: list[float], value: float) -> None:
        """Expands the leaf that waits with its evaluation, and backs its value up."""
        leaf, self.leaf = self.leaf, None
        assert leaf is not None
        max_logit = max(logits[: len(leaf.edges)])
        weights = [exp(logit - max_logit) for logit in logits[: len(leaf.edges)]]
        total = 0.0
        for weight in weights:
            total += weight
        for edge, weight in zip(leaf.edges, weights, strict=True):
            edge.prior = max(float(np.float32(weight / total)), _MIN_PRIOR)
        leaf.raw_value = value
        leaf.put_best_unvisited_next()
        self._insert_and_backup(leaf, value)

    def finish(self, result: Result, i: int) -> None:
        root, policy = self.nodes[0], self.settings.policy
        edges = sorted(root.edges, key=lambda edge: edge.action)
        if isinstance(policy, Gumbel):
            improved = ImprovedPolicy(root, policy)
            shares = [improved.weight(edge) / improved.mass for edge in edges]
            result.chosen[i] = self._chosen_by_halving(policy)
        else:
            visits = sum(edge.visits for edge in edges)
            shares = [edge.visits / visits for edge in edges]
            result.chosen[i] = self._chosen_by_visits(edges, policy.temperature)
        result.policy[i, : len(edges)] = shares
        _write_visits(root, result, i)

    def look(self, path: list[int], result: Result, i: int) -> None:
        """Writes visits and values of the node at the end of a path to row `i`."""
        node = self.nodes[0] if self.nodes else None
        for action in path:
            edges = node.edges if node else []
            node = next((edge.child for edge in edges if edge.action == action), None)
        if node:
            _write_visits(node, result, i)

    def advance(self, action: int) -> None:
        edges = self.nodes[0].edges if self.nodes else []
        child = next((edge.child for edge in edges if edge.action == action), None)
        out = Buffers.allocate(self.env.settings.output_kinds(), 1)
        self.env = _step_copy(self.env, action, out)
        self.draws = dataclasses.replace(self.draws, ply=self.draws.ply + 1)
        self.nodes, self.leaf, self._simulations_left = [], None, 0
        if child and self.settings.keep and not self.env.reason:
            self._keep_subtree(child)

    def tree(self) -> Tree:
        number = {id(node): i for i, node in enumerate(self.nodes)}
        edges = [edge for node in self.nodes for edge in node.edges]
        counts = [len(node.edges) for node in self.nodes]
        return Tree(
            parent=np.array([number.get(id(node.parent), -1) for node in self.nodes], np.int32),
            action=np.array(
                [node.edge.action if node.edge else -1 for node in self.nodes], np.int16
            ),
            visits=np.array([node.visits for node in self.nodes], np.int32),
            raw_value=np.array([node.raw_value for node in self.nodes], np.float32),
            reason=np.array([node.env.reason for node in self.nodes], np.int8),
            first=np.cumsum([0, *counts], dtype=np.int32)[:-1],
            count=np.array(counts, np.int16),
            edge_action=np.array([edge.action for edge in edges], np.int16),
            edge_prior=np.array([edge.prior for edge in edges], np.float32),
            edge_visits=np.array([edge.visits for edge in edges], np.int32),
            edge_value_sum=np.array([edge.value_sum for edge in edges], np.float64),
            edge_child=np.array([number.get(id(edge.child), -1) for edge in edges], np.int32),
        )

    def _begin(self, env: ChessEnv, draws: Draws) -> None:
        self.env, self.draws = env, draws
        self.nodes, self.leaf, self._simulations_left = [], None, 0

    def _select_leaf(self, out: Buffers, row: int) -> Node:
        """Selects a leaf: a node without an evaluation, or one in which the game is over."""
        if not self.nodes:
            self.env.write(out, row)
            return Node(self.env, None, None, [Edge(action) for action in sorted(self.env.legal)])
        node = self.nodes[0]
        if not self._noisy_priors:
            self._draw_root_noise(node)
        while True:
            edge = self._select_root(node) if node is self.nodes[0] else self._select(node)
            if edge.child is None:
                env = _step_copy(node.env, edge.action, out, row)
                legal = [] if env.reason else sorted(env.legal)
                return Node(env, node, edge, [Edge(action) for action in legal])
            node = edge.child
            if node.env.reason:
                return node

    def _insert_and_backup(self, leaf: Node, value: float) -> None:
        """Inserts a leaf into the tree, if it fits, and backs its value up."""
        new = not leaf.visits
        if new and self._has_room(leaf):
            self.nodes.append(leaf)
            if leaf.edge:
                leaf.edge.child = leaf
        leaf.visits += 1
        if leaf.edge is None:
            return
        self._simulations_left -= 1
        if leaf.parent is not self.nodes[0] and not leaf.edge.visits:
            assert leaf.parent is not None
            leaf.parent.num_visited += 1
            leaf.parent.put_best_unvisited_next()
        node: Node | None = leaf
        while node and node.edge and node.parent:
            value = -value
            node.edge.visits += 1
            node.edge.value_sum += value
            node = node.parent
            node.visits += 1

    def _has_room(self, leaf: Node) -> bool:
        edges = sum(len(node.edges) for node in self.nodes) + len(leaf.edges)
        return len(self.nodes) < self.settings.nodes and edges <= self.settings.edges

    def _keep_subtree(self, root: Node) -> None:
        """Keeps the subtree below a node, breadth first, as far as there is room."""
        root.parent = root.edge = None
        self.nodes, edges = [root], len(root.edges)
        for node in self.nodes:  # which grows during the loop
            for edge in node.edges:
                child = edge.child
                if child is None:
                    continue
                edges += len(child.edges)
                if len(self.nodes) < self.settings.kept_nodes and edges <= self.settings.kept_edges:
                    self.nodes.append(child)
                else:
                    edges -= len(child.edges)
                    edge.child = None

    def _draw_root_noise(self, root: Node) -> None:
        policy, draws = self.settings.policy, self.draws
        self._visits_before = [edge.visits for edge in root.edges]
        if isinstance(policy, Gumbel):
            self._noisy_priors = [
                log(edge.prior)
                + (policy.scale * draws.gumbel(edge.action) if policy.scale else 0.0)
                for edge in root.edges
            ]
        elif policy.fraction:
            gammas = [draws.gamma(edge.action, policy.alpha) for edge in root.edges]
            total = 0.0
            for gamma in gammas:
                total += gamma
            self._noisy_priors = [
                (1.0 - policy.fraction) * edge.prior + policy.fraction * (gamma / total)
                for edge, gamma in zip(root.edges, gammas, strict=True)
            ]
        else:
            self._noisy_priors = [edge.prior for edge in root.edges]

    def _select_root(self, root: Node) -> Edge:
        policy = self.settings.policy
        if isinstance(policy, Puct):
            return _select_puct(root, self._noisy_priors, policy)
        considered = min(policy.considered, len(root.edges))
        done = self._simulations - self._simulations_left
        return self._best_considered(
            halving(policy.considered, self._simulations)[considered, done]
        )

    def _best_considered(self, visits: int) -> Edge:
        """Returns the best of the root's edges that this search has visited `visits` times."""
        root, policy = self.nodes[0], self.settings.policy
        assert isinstance(policy, Gumbel)
        improved = ImprovedPolicy(root, policy)
        scores = [
            (max(_MIN_SCORE, noisy_prior + improved.sigma(edge)), edge)
            for edge, noisy_prior, before in zip(
                root.edges, self._noisy_priors, self._visits_before, strict=True
            )
            if edge.visits - before == visits
        ]
        return max(scores, key=lambda entry: entry[0])[1]

    def _select(self, node: Node) -> Edge:
        policy = self.settings.policy
        if isinstance(policy, Puct):
            return _select_puct(node, [edge.prior for edge in node.edges], policy)
        improved = ImprovedPolicy(node, policy)
        reachable = node.edges[: node.num_visited + 1]
        return max(
            reachable,
            key=lambda edge: improved.weight(edge) / improved.mass - edge.visits / node.visits,
        )

    def _chosen_by_halving(self, policy: Gumbel) -> int:
        edges = zip(self.nodes[0].edges, self._visits_before, strict=True)
        return self._best_considered(max(edge.visits - before for edge, before in edges)).action

    def _chosen_by_visits(self, edges: list[Edge], temperature: float) -> int:
        max_visits = max(edge.visits for edge in edges)
        if not temperature:
            return next(edge.action for edge in edges if edge.visits == max_visits)
        visited = [edge for edge in edges if edge.visits]
        ends, total = [], 0.0
        for edge in visited:
            total += exp((log(float(edge.visits)) - log(float(max_visits))) / temperature)
            ends.append(total)
        threshold = self.draws.choice() * total
        return next(
            (edge.action for edge, end in zip(visited, ends, strict=True) if threshold < end),
            visited[-1].action,
        )


class PythonTrees(Trees):
    """A loop over games, in Python."""

    def __init__(self, num_games: int, settings: SearchSettings, batches: int):
        super().__init__(num_games, settings, batches)
        self._games = [Game(number, settings) for number in range(num_games)]
        self._out = Buffers.allocate(settings.chess(()).output_kinds(), num_games)

    def begin_fens(self, which: np.ndarray, fens: list[str]) -> None:
        envs = [ChessEnv(0, self.settings.chess((fen,))) for fen in fens]
        for game, env in zip(which.tolist(), envs, strict=True):
            self._games[game].begin_fen(env)
        self._update_reasons()

    def begin_boards(self, which: np.ndarray, env: ChessVectorEnv) -> None:
        if not isinstance(env.boards, PythonBoards):
            raise ConfigurationError("games: this search needs boards of the rung python")
        if self.settings.obs != "board" and env.settings.obs == "board":
            raise ConfigurationError(f"games: obs={self.settings.obs!r} needs boards with history")
        settings = self.settings.chess(())
        for game, copied in zip(which.tolist(), env.snapshot(which).boards, strict=True):
            # Truncation ends the episode but not the game.
            copied.settings, copied.ended = settings, bool(copied.reason)
            self._games[game].begin_board(copied)
        self._update_reasons()

    def start(self, which: np.ndarray, simulations: int) -> None:
        for game in self._games:
            game.start(0)
        for number in which.tolist():
            self._games[number].start(simulations)

    def simulate(self, batch: int, evaluation: Evaluation | None) -> int:
        games, first = self._games[self.batches[batch]], self.batches[batch].start
        waiting = [game for game in games if game.leaf]
        if evaluation is not None:
            with np.errstate(invalid="ignore"):  # beyond the legal actions, logits are anything
                logits, values = (array.astype(np.float64) for array in evaluation)
            self._check(waiting, logits, values)
            for game, row, value in zip(waiting, logits.tolist(), values.tolist(), strict=True):
                game.expand_and_backup(row, value)
        number = 0
        for game in games:
            number += game.simulate(self._out, first + number)
        return number

    def leaves(self, batch: int, number: int) -> Leaves:
        first = self.batches[batch].start
        rows = slice(first, first + number)
        return self._out.observation[rows], self._out.mask[rows], self._out.action_count[rows]

    def look(self, game: int, path: np.ndarray, result: Result) -> None:
        self._games[game].look(path.tolist(), result, game)

    def finish(self, which: np.ndarray, result: Result) -> None:
        for game in which.tolist():
            self._games[game].finish(result, game)

    def advance(self, actions: np.ndarray) -> None:
        chosen = [(i, action) for i, action in enumerate(actions.tolist()) if action != -1]
        for i, action in chosen:
            env = self._games[i].env
            if env.reason or action not in env.legal:
                raise self.illegal(i, action)
        for i, action in chosen:
            self._games[i].advance(action)
        self._update_reasons()

    def fen(self, game: int) -> str:
        return self._games[game].env.board.fen()

    def tree(self, game: int) -> Tree:
        return self._games[game].tree()

    def memory_bytes(self) -> int:
        return self._out.memory_bytes()

    def _update_reasons(self) -> None:
        self.reasons[:] = [game.env.reason for game in self._games]

    def _check(self, waiting: list[Game], logits: np.ndarray, values: np.ndarray) -> None:
        """Rejects values outside [-1, 1] and logits that are NaN, inf, or all -inf."""
        for game, row, value in zip(waiting, logits, values, strict=True):
            assert game.leaf is not None
            listed = row[: len(game.leaf.edges)]
            if not (abs(value) <= 1 and math.isfinite(listed.max())):
                raise self.invalid_evaluation(self._games.index(game))


def _write_visits(node: Node, result: Result, i: int) -> None:
    """Writes a node's visits and values to row `i`: all of a result but policy and choice."""
    value = node.raw_value
    for edge in node.edges:
        value += edge.value_sum
    result.counts[i] = len(node.edges)
    result.value[i], result.raw_value[i] = value / node.visits, node.raw_value
    for k, edge in enumerate(sorted(node.edges, key=lambda edge: edge.action)):
        result.actions[i, k], result.visits[i, k] = edge.action, edge.visits
        result.priors[i, k] = edge.prior
        if edge.visits:
            result.action_values[i, k] = edge.value_sum / edge.visits


def _select_puct(node: Node, priors: list[float], policy: Puct) -> Edge:
    reach = log((1.0 + node.visits + policy.c_base) / policy.c_base) + policy.c_init
    reach *= math.sqrt(node.visits)
    best, highest = node.edges[0], -math.inf
    for edge, prior in zip(node.edges, priors, strict=True):
        value = edge.value_sum / edge.visits if edge.visits else 0.0
        score = value + reach * prior / (1 + edge.visits)
        if score > highest:
            best, highest = edge, score
    return best


def _step_copy(env: ChessEnv, action: int, out: Buffers, row: int = 0) -> ChessEnv:
    """Returns a copy after an action, whose observation and actions are written to a row."""
    after = env.copy()
    after.step(action, None, out, row)
    return after
