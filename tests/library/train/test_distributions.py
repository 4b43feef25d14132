"""Probabilities of legal actions, in rows and packed: those of PyTorch's own distribution."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rungs._src.train.legal_actions import Legal, Packed, Padded

KINDS = pytest.mark.parametrize("kind", [Padded, Packed])


def lists(counts):
    """Lists of so many actions, with ids that tell position and place."""
    count = torch.tensor(counts)
    board = torch.repeat_interleave(torch.arange(len(counts)), count)
    place = torch.cat([torch.arange(each) for each in counts])
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
    ours = found.log_probability(choice), found.entropy()
    alone = [torch.distributions.Categorical(logits=part) for part in scores.split(counts)]
    theirs = (
        torch.stack([each.log_prob(c) for each, c in zip(alone, choice, strict=True)]),
        torch.stack([each.entropy() for each in alone]),
    )
    gradients = []
    for pair in (ours, theirs):
        total = (torch.stack(pair) * weights).sum()
        gradients.append(torch.autograd.grad(total, scores, retain_graph=True)[0])
    for mine, exact in zip((*ours, gradients[0]), (*theirs, gradients[1]), strict=True):
        torch.testing.assert_close(mine, exact, rtol=1e-9, atol=1e-9)


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


@KINDS
def test_the_generator_decides(kind):
    legal = lists([30] * 200)
    scores = torch.randn(len(legal.board))
    first, again, other = (
        kind(legal, scores).sample(torch.Generator().manual_seed(seed)) for seed in (1, 1, 2)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
