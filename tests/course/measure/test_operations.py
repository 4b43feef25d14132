"""Operations counted on paper are those that PyTorch counts, less what is multiplied by zero."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from rungs._src.train.legal_actions import Legal
from rungs._src.train.network import PolicyValueNetwork
from rungs._src.train.settings import PpoSettings
from rungs_course.measure.cost import operations
from tests.library.train import batches


@pytest.mark.parametrize("how", [{}, {"width": 32, "blocks": 3, "keys": 8}])
def test_products_are_counted(how):
    network, count = PolicyValueNetwork(**how), 16
    observation = batches.positions("list", None, count).observation
    none = torch.zeros(count, dtype=torch.int64)
    legal = Legal(none[:0], none[:0], none)
    width = network.query.in_features
    dense = 2 * 840 * width
    ours = 64 * width + 2 * 8 * width  # of the first layer
    with FlopCounterMode(display=False) as counted:
        network.scores(observation, legal)
    forward = counted.get_total_flops() / count
    found = operations(network, legal=0)
    assert found.infer == forward - dense + ours
    # Differentiated by both factors, but for the first layer's zeros and ones.
    assert found.learn - found.infer == 2 * (forward - dense) + ours
    assert operations(network, legal=10).infer - found.infer == 10 * 3 * network.query.out_features


def test_an_update_plays_once_and_learns_in_every_epoch():
    work = operations(PolicyValueNetwork())
    once, twice = (work.update(PpoSettings(update_epochs=epochs)) for epochs in (1, 2))
    assert once == work.infer + work.learn
    assert twice - once == work.learn
