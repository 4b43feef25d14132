"""The network: legal actions, their probabilities, its first layer, and what a search asks."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rungs._src.chess.unpack import unpack_mask
from rungs._src.train.legal_actions import Legal, Packed, Padded, from_bits, from_lists
from rungs._src.train.network import PolicyValueNetwork
from tests.library.train import batches


def positions(count=64, plies=40):
    """Observations and masks as the network takes them."""
    return batches.positions("bits", None, count, plies)[:2]


def test_each_legal_action_has_a_probability_no_other_has_and_both_are_alike_in_any_batch():
    observation, mask = positions()
    network = PolicyValueNetwork(16, 1, 8)
    actions, log_probabilities, value = network(observation, mask)
    dense = torch.zeros(len(mask), 4672).scatter_add(1, actions, log_probabilities.exp())
    assert torch.equal(dense > 0, unpack_mask(mask))
    torch.testing.assert_close(dense.sum(1), torch.ones(len(mask)))
    for i in (0, 13, 63):
        listed, scores, alone = network(observation[i : i + 1], mask[i : i + 1])
        legal = scores.shape[1]
        assert torch.equal(listed[0], actions[i, :legal])
        torch.testing.assert_close(scores[0], log_probabilities[i, :legal])
        torch.testing.assert_close(alone[0], value[i])
    torch.testing.assert_close(network.values(observation), value)


def test_it_sees_every_square_and_all_the_rest():
    observation, _ = positions(1)
    network = PolicyValueNetwork(16, 1, 8)
    values = [network.values(observation)]
    for place in range(72):
        changed = observation.clone()
        changed[0, place] = not changed[0, place]
        values.append(network.values(changed))
    assert len(torch.stack(values).unique()) == 73


@pytest.mark.parametrize(
    ("fens", "plies"), [(None, 40), ([batches.MOST, batches.ONE], 0), ([batches.CASTLING], 3)]
)
def test_lists_say_what_bits_say(fens, plies):
    bits = from_bits(batches.positions("bits", fens, 32, plies).mask)
    lists = from_lists(*batches.positions("list", fens, 32, plies)[1:])
    for actual, expected in zip(lists, bits, strict=True):
        assert torch.equal(actual, expected)
    assert torch.equal(lists.board, torch.repeat_interleave(torch.arange(32), lists.count))
    assert torch.equal(lists.first()[1:], lists.count.cumsum(0)[:-1])


def test_ended_boards_have_nothing():
    positions = batches.positions("list", None, 3)
    positions.action_count[1] = 0
    legal = from_lists(*positions[1:])
    assert legal.count.tolist() == [20, 0, 20]
    assert legal.board.tolist() == [0] * 20 + [2] * 20


KINDS = pytest.mark.parametrize("kind", [Padded, Packed])


def lists(counts):
    """Lists of some numbers of actions, with ids that say position and place."""
    count = torch.tensor(counts)
    board = torch.repeat_interleave(torch.arange(len(counts)), count)
    place = torch.cat([torch.arange(count) for count in counts])
    return Legal(board, 1000 * board + place, count)


@KINDS
@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(1, 218), min_size=1, max_size=12), st.floats(0.1, 30), st.data())
def test_they_are_those_of_each_position_alone(kind, counts, scale, data):
    legal = lists(counts)
    seed = data.draw(st.integers(0, 2**32 - 1))
    generator = torch.Generator().manual_seed(seed)
    scores = scale * torch.randn(len(legal.board), generator=generator, dtype=torch.float64)
    scores.requires_grad_()
    choice = (torch.rand(len(counts), generator=generator) * legal.count).long()
    weights = torch.randn(2, len(counts), generator=generator, dtype=torch.float64)
    found = kind(legal, scores)
    assert torch.equal(found.action(choice), 1000 * torch.arange(len(counts)) + choice)
    actual = found.log_probability(choice), found.entropy()
    alone = [torch.distributions.Categorical(logits=part) for part in scores.split(counts)]
    expected = (
        torch.stack([one.log_prob(c) for one, c in zip(alone, choice, strict=True)]),
        torch.stack([one.entropy() for one in alone]),
    )
    gradients = []
    for pair in (actual, expected):
        total = (torch.stack(pair) * weights).sum()
        gradients.append(torch.autograd.grad(total, scores, retain_graph=True)[0])
    for packed, exact in zip((*actual, gradients[0]), (*expected, gradients[1]), strict=True):
        torch.testing.assert_close(packed, exact, rtol=1e-9, atol=1e-9)


@KINDS
def test_a_choice_is_always_legal(kind):
    """Also where one action has all the probability, or scores are as far apart as can be."""
    legal = lists([1, 218, 1, 3] * 64)
    for scale in (0.0, 1.0, 1e4):
        scores = scale * torch.randn(len(legal.board), generator=torch.Generator().manual_seed(0))
        chosen = kind(legal, scores).sample(torch.Generator().manual_seed(1))
        assert chosen.dtype == torch.int64
        assert ((chosen >= 0) & (chosen < legal.count)).all()
        assert kind(legal, scores).log_probability(chosen).isfinite().all()
