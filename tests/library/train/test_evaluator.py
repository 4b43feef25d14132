"""A network of PyTorch's as an evaluator."""

import numpy as np
import torch

import rungs
from rungs._src.search.search import Search
from rungs._src.train.evaluate import NetworkEvaluator
from rungs._src.train.network import PolicyValueNetwork


def test_a_network_is_asked_for_the_legal_actions_in_their_order():
    torch.manual_seed(0)
    network = PolicyValueNetwork(width=16, blocks=1, keys=8)
    with torch.no_grad():
        network.value.weight *= 20  # beyond -1 and 1
    given = {"seed": 3, "opening_plies": (0, 60)}
    lists, bits = (rungs.make("chess", "cpp", 40, mask=mask, **given) for mask in ("list", "bits"))
    (observation, listed), (_, masked) = lists.reset(), bits.reset()
    counts = listed["action_count"]
    logits, values = NetworkEvaluator(network)(observation, listed["action_mask"], counts)
    with torch.no_grad():
        mask = torch.from_numpy(masked["action_mask"].view(np.int64))
        actions, expected, worth = network(torch.from_numpy(observation), mask)
    for row, count in enumerate(counts):
        assert listed["action_mask"][row, :count].tolist() == actions[row, :count].tolist()
        own = torch.from_numpy(logits[row, :count])
        torch.testing.assert_close(own.log_softmax(0), expected[row, :count])
    np.testing.assert_array_equal(values, worth.clamp(-1, 1))
    assert (worth.abs() > 1).any()


def test_a_network_is_searched_with():
    torch.manual_seed(0)
    with Search(4, simulations=6) as search:
        result = search.run(NetworkEvaluator(PolicyValueNetwork(width=16, blocks=1, keys=8)))
    assert (result.visits.sum(1) == 6).all()
    assert (result.priors[:, :20] > 0).all()
