"""Networks by the C API compute what the package's learner computes, to the last bit."""

import copy
import ctypes

import numpy as np
import pytest
import torch

import rungs
from rungs.train import CppNetwork, PolicyValueNetwork, flat_weights
from tests.library.native.c_handles import RESULTS, Network, Search, refuses
from tests.library.search.made_up import ENDINGS, random_fens

MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1"


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(3)
    network = PolicyValueNetwork().requires_grad_(False)
    for weights in network.parameters():  # far from 0, also where they begin there
        weights += 0.03 * torch.randn_like(weights)
    return network


@pytest.fixture(scope="module")
def positions():
    """Observations, lists and counts of 150 positions: two whole chunks, and a part of one."""
    env = rungs.make("chess", "cpp", 150, mask="list", opening_plies=(0, 60))
    observation, info = env.reset(seed=5)
    return observation.copy(), info["action_mask"].copy(), info["action_count"].copy()


@pytest.mark.parametrize(("dtype", "num_threads"), [(np.float32, 1), (np.float16, 2)])
def test_it_evaluates_as_the_learner(network, positions, dtype, num_threads):
    if dtype == np.float16:
        network = copy.deepcopy(network).half().float()
    c_network = Network(flat_weights(network).astype(dtype), num_threads=num_threads)
    logits, values = CppNetwork(network, compiler="g++").evaluate(*positions)
    their_logits, their_values = c_network.evaluate(*positions)
    np.testing.assert_array_equal(their_values, values)
    assert len(np.unique(values)) > 100
    for row, count in enumerate(positions[2]):
        np.testing.assert_array_equal(their_logits[row, :count], logits[row, :count])
        assert np.isnan(their_logits[row, count:]).all()  # left alone


@pytest.mark.parametrize("type_", [np.float32, np.float16])
def test_numbers_of_every_size_are_read_as_they_are(network, positions, type_):
    """Subnormal ones too, which a float16 has below 6e-5: the value's bias is the last weight."""
    weights = np.zeros(1537665, type_)
    for bias in (0.5, -0.25, 6.1e-5, 5.96e-8, -3.1e-6, 0.0):
        weights[-1] = bias
        values = Network(weights).evaluate(*positions)[1]
        assert (values == np.float32(weights[-1])).all(), bias


def test_what_is_wrong_is_refused(network, positions):
    weights = flat_weights(network)
    for bad_settings, why in (
        ({"num_weights": 1537664}, "num_weights: 1537664"),
        ({"weights": None}, "weights"),
        ({"type": 2}, "type: 2"),
        ({"num_threads": 0}, "num_threads: 0"),
    ):
        refuses(lambda given=bad_settings: Network(weights, **given), why)
    for dtype, number in ((np.float32, np.nan), (np.float32, np.inf), (np.float16, -np.inf)):
        spoilt = weights.astype(dtype)
        spoilt[7] = number
        refuses(lambda spoilt=spoilt: Network(spoilt), r"weights\[7\]")
    c_network = Network(weights)
    for which, place, broken in ((0, (0, 3), 7), (0, (70, 3), -7), (1, (140, 0), 4672)):
        spoilt = [array.copy() for array in positions]
        spoilt[which][place] = broken
        refuses(lambda spoilt=spoilt: c_network.evaluate(*spoilt), f"row {place[0]}")
    refuses(lambda: c_network.call("evaluate", None, None, None, 1, None, 0, None), "null")
    refuses(lambda: c_network.call("evaluate", *positions, 1, weights, 219, weights), "stride: 219")


@pytest.mark.parametrize(("policy", "num_threads"), [("gumbel", 2), ("puct", 1)])
def test_a_search_in_one_call_is_that_of_the_loop(network, policy, num_threads):
    """The same trees after several searches, of some games and of all, which add to them."""
    fens = [*ENDINGS, *random_fens(np.random.default_rng(4), 4)]
    c_network = Network(flat_weights(network), num_threads=num_threads)
    settings = {"num_games": len(fens), "policy": ["gumbel", "puct"].index(policy), "seed": 5}
    looped, called = (
        Search(**settings, simulations=24, nodes=40, num_threads=num_threads) for _ in range(2)
    )
    for search in (looped, called):
        for game, fen in enumerate(fens):
            search.call("begin", game, fen.encode())
    which = np.arange(len(fens)) % 2 == 0
    for marks, simulations in ((None, 0), (which.astype(np.uint8), 24), (None, 3)):
        looped.run(c_network.evaluate, marks, simulations)
        called.call("run", c_network.handle, marks, ctypes.c_int32(simulations))
        for name in (*RESULTS, "nodes"):
            np.testing.assert_array_equal(getattr(called, name), getattr(looped, name), name)
        for search in (looped, called):
            search.call("advance", looped.chosen)
        assert called.visits.any()


def test_a_search_in_one_call_is_refused_where_the_loop_is(network):
    c_network = Network(flat_weights(network))
    overflowing = Network(np.full(1537665, 3e38, np.float32))
    search, planes = Search(simulations=8), Search(simulations=8, observation=1)
    planes.call("begin", 0, MATE_IN_ONE.encode())

    def run(its=search, evaluator=c_network.handle, simulations=0):
        its.call("run", evaluator, None, ctypes.c_int32(simulations))

    refuses(run, "game 0")
    refuses(lambda: run(simulations=9), "simulations: 9")
    refuses(lambda: run(planes), "boards")
    refuses(lambda: run(evaluator=None), "null")
    search.call("begin", 0, MATE_IN_ONE.encode())
    refuses(lambda: run(evaluator=overflowing.handle), r"game 0: .*NaN")
    run()
    assert search.visits.sum() == 8
