"""The masked policy and value network."""

import numpy as np
import torch

import rungs
from rungs._src.chess.policy import random_actions
from rungs._src.chess.unpack import unpack_mask
from rungs._src.train.legal_actions import from_bits
from rungs._src.train.network import PolicyValueNetwork


def positions(count=64, plies=40):
    """Observations and masks as the network takes them."""
    env = rungs.make("chess", "cpp", count, mask="bits")
    observation, info = env.reset()
    rng = np.random.default_rng(0)
    for _ in range(plies):
        observation, *_, info = env.step(random_actions(info["action_mask"], rng))
    return torch.from_numpy(observation), torch.from_numpy(info["action_mask"].view(np.int64))


def test_legal_actions_are_those_of_the_mask():
    _, mask = positions()
    board, action, count = from_bits(mask)
    expected = unpack_mask(mask).nonzero(as_tuple=True)
    assert torch.equal(board, expected[0])
    assert torch.equal(action, expected[1])
    assert torch.equal(count, unpack_mask(mask).sum(1))


def test_every_legal_action_has_a_probability_and_no_other():
    observation, mask = positions()
    actions, log_probabilities, value = PolicyValueNetwork()(observation, mask)
    dense = torch.zeros(len(mask), 4672).scatter_add(1, actions, log_probabilities.exp())
    assert value.shape == (len(mask),)
    assert torch.equal(dense > 0, unpack_mask(mask))
    torch.testing.assert_close(dense.sum(1), torch.ones(len(mask)))


def test_a_position_is_scored_alike_in_any_batch():
    observation, mask = positions()
    network = PolicyValueNetwork()
    actions, log_probabilities, value = network(observation, mask)
    for i in (0, 13, 63):
        own, scores, alone = network(observation[i : i + 1], mask[i : i + 1])
        legal = scores.shape[1]
        assert torch.equal(own[0], actions[i, :legal])
        torch.testing.assert_close(scores[0], log_probabilities[i, :legal])
        assert (log_probabilities[i, legal:] == -torch.inf).all()
        torch.testing.assert_close(alone[0], value[i])
    torch.testing.assert_close(network.values(observation), value)


def test_it_sees_every_square_and_all_the_rest():
    observation, _ = positions(1)
    network = PolicyValueNetwork()
    values = [network.values(observation)]
    for place in range(72):
        changed = observation.clone()
        changed[0, place] = 3 - changed[0, place]
        values.append(network.values(changed))
    assert len(torch.stack(values).unique()) == 73
