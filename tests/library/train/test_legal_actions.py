"""Legal actions read from bits and from lists are the same."""

import pytest
import torch

from rungs._src.train.legal_actions import from_bits, from_lists
from tests.library.train.learners import batches


@pytest.mark.parametrize(
    ("fens", "plies"), [(None, 40), ([batches.MOST, batches.ONE], 0), ([batches.CASTLING], 3)]
)
def test_lists_say_what_bits_say(fens, plies):
    bits = from_bits(batches.positions("bits", fens, 32, plies).mask)
    lists = from_lists(*batches.positions("list", fens, 32, plies)[1:])
    for ours, theirs in zip(lists, bits, strict=True):
        assert torch.equal(ours, theirs)
    assert torch.equal(lists.board, torch.repeat_interleave(torch.arange(32), lists.count))
    assert torch.equal(lists.first()[1:], lists.count.cumsum(0)[:-1])


def test_ended_boards_have_nothing():
    positions = batches.positions("list", None, 3)
    positions.action_count[1] = 0
    legal = from_lists(*positions[1:])
    assert legal.count.tolist() == [20, 0, 20]
    assert legal.board.tolist() == [0] * 20 + [2] * 20
