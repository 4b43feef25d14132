"""The optimizer is PyTorch's."""

import copy
import sys

import pytest
import torch

from rungs._src.train.adam import Adam, FlatAdam
from tests.processes import succeed


@pytest.mark.parametrize("kind", [Adam, FlatAdam])
def test_it_is_adam_of_pytorch_also_after_it_was_saved_and_weights_were_moved(kind):
    """Also of weights that lie otherwise in memory, and with gradients that autograd adds up."""
    network = torch.nn.Sequential(torch.nn.Linear(5, 5), torch.nn.Linear(5, 5)).double()
    network[0].weight = torch.nn.Parameter(network[0].weight.detach().t().contiguous().t())
    same_network = copy.deepcopy(network)
    adam = kind(network.parameters(), 3e-3, eps=1e-5)
    reference = torch.optim.Adam(same_network.parameters(), 3e-3, eps=1e-5)
    clip = torch.nn.utils.clip_grad_norm_
    for step in range(30):
        torch.manual_seed(step)
        inputs = torch.randn(7, 5, dtype=torch.float64)
        for model, optimizer in ((network, adam), (same_network, reference)):
            optimizer.zero_grad()
            model(inputs).square().sum().backward()
        adam.clip(1.5) if kind is FlatAdam else clip(network.parameters(), 1.5)
        norm = clip(same_network.parameters(), 1.5)
        assert norm > 1.5
        adam.step()
        reference.step()
        if step == 10:
            saved = copy.deepcopy(adam.state_dict())
            adam.step()  # so that it has to go back
            network.load_state_dict(same_network.state_dict())
            adam.load_state_dict(saved)
        if step == 20:  # exchanged, and one is transposed
            for first, second in (network, same_network):
                weights, others = first.weight, second.weight
                weights.data, others.data = others.data, weights.data.T
    exact = {"rtol": 0, "atol": 0} if kind is Adam else {"rtol": 1e-9, "atol": 1e-12}
    for actual, expected in zip(network.parameters(), same_network.parameters(), strict=True):
        torch.testing.assert_close(actual, expected, **exact)
    assert all(moments["step"] == 11 for moments in saved["state"].values())  # its own by now
    for i, moments in reference.state_dict()["state"].items():
        for name, moment in moments.items():
            actual = adam.state_dict()["state"][i][name].double()
            torch.testing.assert_close(actual, moment.double(), **exact)


@pytest.mark.system
def test_learning_does_not_wait_for_pytorchs_compiler(tmp_path):
    train = "train --rung cpp --num-envs 4 --num-steps 4 --num-minibatches 1 --updates 1 --games 2"
    words = [*train.split(), "--max-plies", "8", "--out", str(tmp_path)]
    code = f"import sys; from rungs._src import cli; assert cli.main({words}) == 0; "
    succeed([sys.executable, "-c", code + "assert 'torch._dynamo' not in sys.modules"])
