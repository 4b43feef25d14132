"""The optimizer is PyTorch's."""

import copy
import sys

import pytest
import torch

from rungs._src.train.adam import Adam, FlatAdam
from tests.processes import succeed


@pytest.mark.parametrize("kind", [Adam, FlatAdam])
def test_it_is_adam_of_pytorch_also_after_it_was_saved(kind):
    """Weights that lie otherwise in memory, too; and gradients that autograd adds up there."""
    layer = torch.nn.Linear(5, 3).double()
    layer.weight = torch.nn.Parameter(layer.weight.detach().t().contiguous().t())
    same_layer = copy.deepcopy(layer)
    adam = kind(layer.parameters(), 3e-3, eps=1e-5)
    reference = torch.optim.Adam(same_layer.parameters(), 3e-3, eps=1e-5)
    clip = torch.nn.utils.clip_grad_norm_
    for step in range(30):
        torch.manual_seed(step)
        inputs = torch.randn(7, 5, dtype=torch.float64)
        for network, optimizer in ((layer, adam), (same_layer, reference)):
            optimizer.zero_grad()
            network(inputs).square().sum().backward()
        adam.clip(1.5) if kind is FlatAdam else clip(layer.parameters(), 1.5)
        norm = clip(same_layer.parameters(), 1.5)
        adam.step()
        reference.step()
        if step == 10:
            saved = copy.deepcopy(adam.state_dict())
            adam.step()  # so that it has to go back
            layer.load_state_dict(same_layer.state_dict())
            adam.load_state_dict(saved)
    assert norm > 1.5
    assert layer.weight.t().is_contiguous()
    exact = {"rtol": 0, "atol": 0} if kind is Adam else {"rtol": 1e-9, "atol": 1e-12}
    for actual, expected in zip(layer.parameters(), same_layer.parameters(), strict=True):
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


def test_weights_that_were_exchanged_or_transposed_in_their_memory_are_moved_by_their_gradients():
    def changed(kind):
        weights = [torch.nn.Parameter(torch.arange(4.0).reshape(2, 2) + k) for k in (0, 10, 20)]
        optimizer = kind(weights, 0.1, 1e-5)
        weights[0].data, weights[1].data = weights[1].data, weights[0].data
        weights[2].data = weights[2].data.T
        optimizer.zero_grad()
        sum((w * torch.tensor([[1.0, -2.0], [0.0, 3.0]])).sum() for w in weights).backward()
        optimizer.step()
        return weights

    for flat, reference in zip(changed(FlatAdam), changed(Adam), strict=True):
        torch.testing.assert_close(flat, reference)
