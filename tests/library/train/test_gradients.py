"""Every learner's gradients and updates are those of the reference in double precision."""

import functools

import pytest
import torch

from rungs._src.train import learners
from rungs._src.train.network import PolicyValueNetwork
from rungs._src.train.ranks import Ranks
from rungs._src.train.settings import PpoSettings
from rungs.errors import CompilerError, UnavailableError
from rungs_course.learners import LADDER, mask
from tests.library.train import batches

BATCHES = ("games", *batches.STARTS)
SETTINGS = PpoSettings(num_steps=1, learning_rate=3e-3, ent_coef=0.05, max_grad_norm=0.2)

# How far a learner may be from the reference, as a share of the largest gradient of a weight's
# tensor: float32 has 24 bits, and sums of some thousand numbers lose a few.
BOUND = 1e-5

# Of bfloat16 products the bound is another: test_cpp.py.
NAMES = [name for name in LADDER if "bfloat16" not in name]


def agent(name, seed=0, **how):
    torch.manual_seed(seed)
    try:
        return learners.kind(name).make(
            None, SETTINGS, device=torch.device("cpu"), ranks=Ranks(), **how
        )
    except (CompilerError, UnavailableError) as error:
        pytest.skip(str(error))


def reference(seed=0):
    """The reference, in double precision."""
    torch.manual_seed(seed)
    network = PolicyValueNetwork().double()
    return learners.kind("torch").make(network, SETTINGS, device=torch.device("cpu"), ranks=Ranks())


@functools.cache
def expected(name, seed):
    """Gradients and parts of the loss of the reference for a batch."""
    played = batches.played("bits", name, dtype=torch.float64)
    found, parts = reference(seed).gradients(played, torch.arange(len(played.choice)))
    return {weights: each.clone() for weights, each in found.items()}, parts


def assert_near(found, wanted, what):
    error = (found.double() - wanted).abs().max() / wanted.abs().max().clamp(min=1e-12)
    assert error < BOUND, f"{what}: {error:.1e}"


def test_hard_batches_are_hard():
    assert batches.number_legal(batches.MOST) == 218
    assert batches.number_legal(batches.ONE) == 1


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_the_references_in_double_precision(name, batch):
    played = batches.played(mask(name), batch)
    found, parts = agent(name).gradients(played, torch.arange(len(played.choice)))
    wanted, wanted_parts = expected(batch, 0)
    assert found.keys() == wanted.keys()
    for weights, gradient in wanted.items():
        assert_near(found[weights], gradient, weights)
    for part, value in wanted_parts.items():
        assert parts[part].item() == pytest.approx(value.item(), rel=1e-4, abs=1e-6), part


@pytest.mark.parametrize("name", NAMES)
def test_updates_are_the_references_in_double_precision(name):
    """Also those of a part of what was played, in another order, one after the other."""
    rows = torch.randperm(96, generator=torch.Generator().manual_seed(4)).view(4, 24)[:3]
    learner, exact = agent(name, 5), reference(5)
    before = {weights: each.clone() for weights, each in exact.network.named_parameters()}
    played = batches.played(mask(name), "games", 96)
    wanted_parts = exact.improve(batches.played("bits", "games", 96, torch.float64), iter(rows))
    parts = learner.improve(played, iter(rows))
    assert parts == pytest.approx(wanted_parts, rel=1e-4, abs=1e-6)
    weights = dict(learner.network.named_parameters())
    for wanted_name, wanted in exact.network.named_parameters():
        moved = wanted - before[wanted_name]
        error = (weights[wanted_name].double() - wanted).norm() / moved.norm()
        # Adam divides by the root of a gradient's square: where one is next to nothing, so is all
        # that is known of it.
        assert error < 1e-3, f"{wanted_name}: {error:.1e}"


@pytest.mark.parametrize("name", NAMES)
def test_networks_begin_with_the_same_weights(name):
    theirs = reference(9).network.state_dict()
    for weights, found in agent(name, 9).network.state_dict().items():
        assert torch.equal(found.double(), theirs[weights]), weights


@pytest.mark.parametrize("batch", ["games", "both"])
@pytest.mark.parametrize("name", NAMES)
def test_actions_are_sampled_as_the_reference_weighs_them(name, batch):
    positions = batches.played(mask(name), batch).positions
    exact = batches.played("bits", batch, dtype=torch.float64).positions
    actions, log_probabilities, value = reference().network(exact.observation, exact.mask)
    found = agent(name).sample(positions, torch.Generator().manual_seed(6))
    choice = found.choice[:, None]
    assert torch.equal(actions.gather(1, choice).squeeze(1), found.action)
    near = {"rtol": 1e-4, "atol": 1e-5, "check_dtype": False}
    chosen = log_probabilities.gather(1, choice).squeeze(1)
    torch.testing.assert_close(found.log_probability, chosen, **near)
    torch.testing.assert_close(found.value, value, **near)
    torch.testing.assert_close(agent(name).values(positions.observation), value, **near)


@pytest.mark.parametrize("name", NAMES)
def test_actions_are_as_frequent_as_they_are_likely(name):
    """Pearson's chi-squared over 20 legal moves of one position, drawn in 4,096 of it."""
    learner = agent(name)
    with torch.no_grad():  # so that they are not all about equally likely
        learner.network.action_key.weight.mul_(20)
    positions = batches.positions(mask(name), None, 4096)
    found = learner.sample(positions, torch.Generator().manual_seed(7))
    seen = torch.bincount(found.choice, minlength=20)
    exact = batches.positions("bits", None, 1)
    _, log_probabilities, _ = learner.network(exact.observation, exact.mask)
    likely = 4096 * log_probabilities[0].exp()
    assert len(likely) == 20
    assert likely.max() > 2 * likely.min()
    assert ((seen - likely) ** 2 / likely).sum() < 60  # of 19 degrees: one in 300,000
