"""Gumbel's improved policy is a distribution, and the one that its formula says."""

import numpy as np
import pytest

from rungs._src.search.search import Search, uniform
from rungs._src.search.settings import Gumbel
from tests.library.search.made_up import evaluate
from tests.library.search.sameness import search_both


def improved(tree, policy):
    """Returns softmax(logits + sigma(completed q)) of a root in float64, its edges as they lie: the
    rule of mctx's `qtransform_completed_by_mix_value`. A prior's logarithm is its logit.
    """
    edges = slice(tree.first[0], tree.first[0] + tree.count[0])
    prior, visits = tree.edge_prior[edges].astype(np.float64), tree.edge_visits[edges]
    visited = visits > 0
    q = np.divide(tree.edge_value_sum[edges], visits, out=np.zeros(len(visits)), where=visited)
    mean = (prior * q)[visited].sum() / prior[visited].sum()
    mixed = (tree.raw_value[0] + visits.sum() * mean) / (visits.sum() + 1)
    q = np.where(visited, q, mixed)
    q = (q + 1) / 2
    scores = np.log(prior) + (policy.maxvisit_init + visits.max()) * policy.value_scale * q
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


def confident(gap, first):
    """Makes an evaluator to which 16 actions have all but e^-gap of the prior.

    White, who searches, loses everywhere below the root, of which `first` is the value.
    """

    def answer(observation, actions, counts):
        logits = np.zeros(actions.shape, np.float32)
        logits[:, 16:] = -gap
        values = np.where(observation[:, 71] == 1, 1, -1).astype(np.float32)
        if not calls:
            values[:] = first
        calls.append(1)
        return logits, values

    calls = []
    return answer


POLICIES = {
    "default": Gumbel(),
    "silent": Gumbel(scale=0.0),
    "values-alone": Gumbel(value_scale=1e3, maxvisit_init=1e6),
    "priors-alone": Gumbel(value_scale=1e-6, maxvisit_init=0.0),
    "all-considered": Gumbel(considered=218),
    "loud": Gumbel(scale=1e3),
}


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize(("rung", "simulations"), [("threads", 800), ("threads", 2), ("python", 8)])
def test_it_is_a_distribution_and_equals_the_formula(rung, simulations, name):
    policy = POLICIES[name]
    cpp = {"threads": 1} if rung == "threads" else {}
    settings = {"simulations": simulations, "policy": policy, "keep": False} | cpp
    sure = [confident(gap, first) for gap in (5, 20, np.inf) for first in (1.0, -1.0)]
    for evaluator in (*sure, uniform, evaluate):
        with Search(1, rung=rung, **settings) as search:
            result = search.run(evaluator)
            tree = search.tree(0)
        listed = slice(0, result.counts[0])
        shares = result.policy[0, listed]
        assert np.isfinite(shares).all()
        assert (shares >= 0).all()
        assert shares.sum(dtype=np.float64) == pytest.approx(1, abs=1e-6)
        in_order = np.argsort(tree.edge_action[: tree.count[0]])
        np.testing.assert_allclose(shares, improved(tree, policy)[in_order], rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("gap", [15, 20, 60])
def test_trees_of_confident_priors_are_the_same(gap):
    def peaked(observation, actions, counts):
        logits, values = evaluate(observation, actions, counts)
        logits[:, 2:] -= gap
        return logits, values

    games = ["r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"] * 2
    rng = np.random.default_rng(13)
    search_both(games, peaked, rng, plies=2, simulations=60, cpp={"threads": 1})
