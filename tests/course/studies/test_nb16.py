"""Races of searches."""

import numpy as np
import pytest

from rungs._src.search.evaluators import uniform
from rungs._src.search.result import Result
from rungs.errors import MismatchError
from rungs_course import nb16_search as nb16
from tests.library.search.made_up import evaluate

SMALL = {"seed": 0, "simulations": 4, "repeats": 2, "warmup": 0}


def test_all_ways_are_timed():
    times = nb16.race(nb16.WAYS, {"null": uniform, "any": evaluate}, [1, 3], **SMALL)
    groups = times.groupby(["racer", "evaluator", "games"])
    assert len(groups) == 4 * 2 * 2
    assert (groups.size() == 2).all()
    np.testing.assert_allclose(times.per_second * times.seconds, 4 * times.games)


def test_ways_that_find_something_else_are_not_timed(monkeypatch):
    found = iter(range(9))

    def other(*search):
        result = Result.empty(2)
        result.chosen[:] = next(found)
        return 1.0, result

    monkeypatch.setattr(nb16, "_searched", other)
    with pytest.raises(MismatchError, match="threads: chosen, from C\\+\\+'s, differs"):
        nb16.race({name: nb16.WAYS[name] for name in ("C++", "threads")}, {}, [], **SMALL)


def test_an_evaluator_is_given_the_same_leaves_alone():
    evaluated = []

    def noted(observation, actions, counts):
        evaluated.append(len(counts))
        return evaluate(observation, actions, counts)

    times = nb16.race_network(noted, [3], **SMALL)
    assert set(times.racer) == {"one batch", "two batches", "the evaluator alone"}
    assert (times.per_second > 0).all()
    # Once to note the leaves, then three racers, twice: each has the root's and four more.
    assert sum(evaluated) == 7 * 3 * 5
