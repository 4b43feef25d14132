"""Lab 16: the move that a simulation tries."""

import functools

import numpy as np

from rungs_course.labs.arrays import compare, fixed
from rungs_course.labs.lab import Call, Lab


def _nodes(prior, visits, value_sum, c: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Returns (N, K) priors, visits and sums of values, and PUCT's constant, of N nodes."""
    return fixed(prior), fixed(visits), fixed(value_sum), c


def _random(seed: int, nodes: int, moves: int, most: int, c: float):
    """Returns nodes whose moves have at most `most` visits."""
    rng = np.random.default_rng(seed)
    prior = rng.random((nodes, moves))
    visits = rng.integers(0, most + 1, (nodes, moves))
    value_sum = visits * rng.uniform(-1, 1, (nodes, moves))
    return _nodes(prior / prior.sum(axis=1, keepdims=True), visits, value_sum, c)


# By their special property, the simplest first.
CASES = {
    "every move was visited": _nodes([[0.5, 0.5]], [[1, 3]], [[0.5, -0.9]], 1.0),
    "a move was not visited yet": _nodes([[0.9, 0.1]], [[4, 0]], [[2.0, 0.0]], 1.0),
    "nothing was visited yet": _nodes([[0.7, 0.3]], [[0, 0]], [[0.0, 0.0]], 1.25),
    "there are three nodes": _random(1, 3, 4, 5, 1.25),
    "there are many": _random(2, 40, 30, 20, 2.0),
}


def _judge(submission, baseline):
    for special, nodes in CASES.items():
        expected = baseline.scores(*nodes)
        yield compare(
            submission.scores(*nodes),
            expected,
            functools.partial(_label, special, *nodes),
            array_label=f"all scores, where {special}",
        )


def _label(special, prior, visits, value_sum, c, node: int, move: int) -> str:
    return (
        f"the score of move {move} of node {node}, where {special} (its prior is "
        f"{prior[node, move]:.3g}, its visits are {visits[node, move]:g} of "
        f"{visits[node].sum():g}, its values add up to {value_sum[node, move]:.3g})"
    )


def _race(rng):
    return [Call("scores", _random(int(rng.integers(1 << 31)), 512, 218, 3, 1.25))]


LAB = Lab("16", ("scores",), _judge, target=0.5, cause="core bound", language="python", race=_race)
