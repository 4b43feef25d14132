"""The result of a search, and a copy of one tree."""

import dataclasses

import numpy as np

from rungs._src.chess.buffers import MAX_LEGAL


@dataclasses.dataclass(frozen=True, eq=False)
class Result:
    """The result of a search of G games, in new arrays.

    Each row lists the game's legal actions in order of id; K = 218, as no position has more. After
    the last one actions are -1 and everything else is 0. Rows of games that were not searched are
    0, their actions -1.

    Attributes:
        actions: (G, K) int16, the legal actions at the root.
        counts: (G,) int16, their number.
        visits: (G, K) int32, including those of a kept subtree.
        policy: (G, K) float32, the target to train on, which sums to 1: Gumbel's improved policy,
            or the share of the visits.
        priors: (G, K) float32, the evaluator's, without noise.
        action_values: (G, K) float32, the mean value of an action's visits, to the side to move at
            the root; 0 without visits.
        value: (G,) float32, the mean value of the root's visits, to that side.
        raw_value: (G,) float32, the evaluator's value of the root.
        chosen: (G,) int64, the action to play; -1 where nothing was searched.
    """

    actions: np.ndarray
    counts: np.ndarray
    visits: np.ndarray
    policy: np.ndarray
    priors: np.ndarray
    action_values: np.ndarray
    value: np.ndarray
    raw_value: np.ndarray
    chosen: np.ndarray

    @classmethod
    def empty(cls, num_games: int) -> "Result":
        """Makes a result in which no game was searched."""
        lists = (num_games, MAX_LEGAL)
        return cls(
            actions=np.full(lists, -1, np.int16),
            counts=np.zeros(num_games, np.int16),
            visits=np.zeros(lists, np.int32),
            policy=np.zeros(lists, np.float32),
            priors=np.zeros(lists, np.float32),
            action_values=np.zeros(lists, np.float32),
            value=np.zeros(num_games, np.float32),
            raw_value=np.zeros(num_games, np.float32),
            chosen=np.full(num_games, -1, np.int64),
        )


@dataclasses.dataclass(frozen=True, eq=False)
class Tree:
    """A copy of one game's tree, of N nodes in the order in which they were made, and E edges.

    To get a node's position, play the actions from the root to it. Edges whose node was dropped
    have visits and no child.

    Attributes:
        parent: (N,) int32, index of the parent; -1 for the root, which is node 0.
        action: (N,) int16, the one that leads to the node; -1 for the root.
        visits: (N,) int32, including its own evaluation.
        raw_value: (N,) float32, the evaluator's value; exact where the game is over.
        reason: (N,) int8, why the game is over there (`rungs.chess.Reason`), or 0.
        first: (N,) int32, index of the node's first edge.
        count: (N,) int16, number of its edges, one for each legal action.
        edge_action: (E,) int16.
        edge_prior: (E,) float32, the evaluator's.
        edge_visits: (E,) int32.
        edge_value_sum: (E,) float64, sum of the visits' values, to the side to move at the node.
        edge_child: (E,) int32, index of the child, or -1.
    """

    parent: np.ndarray
    action: np.ndarray
    visits: np.ndarray
    raw_value: np.ndarray
    reason: np.ndarray
    first: np.ndarray
    count: np.ndarray
    edge_action: np.ndarray
    edge_prior: np.ndarray
    edge_visits: np.ndarray
    edge_value_sum: np.ndarray
    edge_child: np.ndarray

    @property
    def value(self) -> np.ndarray:
        """(N,) float64: the mean value of a node's visits, to the side to move there."""
        of_edge = np.repeat(np.arange(len(self.count)), self.count)
        sums = np.bincount(of_edge, self.edge_value_sum, len(self.count))
        # The visits of a node in which the game is over are all worth the same.
        return np.where(self.reason != 0, self.raw_value, (self.raw_value + sums) / self.visits)
