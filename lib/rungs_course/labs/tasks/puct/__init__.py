"""Lab 16: which move a simulation tries."""

import functools
import math
from typing import NamedTuple

import numpy as np

from rungs_course.labs.arrays import first_difference, fixed
from rungs_course.labs.lab import Difference, Lab, timed


class Nodes(NamedTuple):
    """N nodes of trees with K moves each: (N, K) priors, visits, and sums of what visits found."""

    prior: np.ndarray
    visits: np.ndarray
    value_sum: np.ndarray
    c: float


def _random(seed: int, nodes: int, moves: int, most: int, c: float) -> Nodes:
    """Returns nodes whose moves have at most `most` visits."""
    rng = np.random.default_rng(seed)
    prior = rng.random((nodes, moves))
    visits = rng.integers(0, most + 1, (nodes, moves))
    value_sum = visits * rng.uniform(-1, 1, (nodes, moves))
    prior /= prior.sum(axis=1, keepdims=True)
    return Nodes(fixed(prior), fixed(visits), fixed(value_sum), c)


@functools.cache
def _cases() -> dict[str, Nodes]:
    """Returns nodes by what is special about them, the simplest first."""
    return {
        "every move was visited": Nodes(
            fixed([[0.5, 0.5]]), fixed([[1, 3]]), fixed([[0.5, -0.9]]), 1.0
        ),
        "a move was not visited yet": Nodes(
            fixed([[0.9, 0.1]]), fixed([[4, 0]]), fixed([[2.0, 0.0]]), 1.0
        ),
        "nothing was visited yet": Nodes(
            fixed([[0.7, 0.3]]), fixed([[0, 0]]), fixed([[0.0, 0.0]]), 1.25
        ),
        "there are three nodes": _random(1, 3, 4, 5, 1.25),
        "there are many": _random(2, 40, 30, 20, 2.0),
    }


def by_definition(nodes: Nodes) -> np.ndarray:
    """Returns every move's score, one by one (Silver et al., 2018, equation of PUCT)."""
    result = np.zeros_like(nodes.prior)
    for node, move in np.ndindex(result.shape):
        visits = nodes.visits[node, move]
        value = nodes.value_sum[node, move] / visits if visits else 0.0
        wish = nodes.prior[node, move] * math.sqrt(nodes.visits[node].sum()) / (1 + visits)
        result[node, move] = value + nodes.c * wish
    return result


def _judge(functions) -> Difference | None:
    for special, nodes in _cases().items():
        found = first_difference(
            functions.scores(*nodes),
            by_definition(nodes),
            functools.partial(_what, nodes, special),
            whole=f"all scores, where {special}",
        )
        if found:
            return found
    return None


def _what(nodes: Nodes, special: str, node: int, move: int) -> str:
    return (
        f"the score of move {move} of node {node}, where {special} (its prior is "
        f"{nodes.prior[node, move]:.3g}, its visits are {nodes.visits[node, move]:g} of "
        f"{nodes.visits[node].sum():g}, its values add up to {nodes.value_sum[node, move]:.3g})"
    )


def _work(functions):
    nodes = _random(3, 512, 218, 3, 1.25)
    return timed(lambda: functions.scores(*nodes))


LAB = Lab(
    name="16",
    defines=("scores",),
    judge=_judge,
    work=_work,
    target=0.5,
    language="python",
)
