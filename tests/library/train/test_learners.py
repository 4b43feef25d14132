"""Every learner computes what the reference does, and goes on from where it was."""

import copy
import functools
import math

import pytest
import torch

import rungs
from rungs._src.train import learners
from rungs._src.train.cpp_network import CppNetwork
from rungs._src.train.layers import DenseSquares, SparseSquares
from rungs._src.train.network import PolicyValueNetwork, gathered_scores, scores_in_place
from rungs._src.train.ppo import Learner
from rungs._src.train.ranks import Ranks
from rungs._src.train.settings import PpoSettings
from rungs.errors import ConfigurationError, DivergedError, InvalidStateError, UnavailableError
from rungs_course.learners import LADDER, mask
from tests.library.train import batches
from tests.saved import deleting, setting

SETTINGS = PpoSettings(num_steps=1, learning_rate=3e-3, ent_coef=0.05, max_grad_norm=0.2)
HOW = {"device": torch.device("cpu"), "ranks": Ranks()}
SMALL = PpoSettings(num_steps=4, num_minibatches=2)

# How far a learner may be from the reference, as a share of the largest gradient of a weight's
# tensor: float32 has 24 bits, and sums of some thousand numbers lose a few.
BOUND = 1e-5

LEARNERS = pytest.mark.parametrize("name", LADDER)
# Of bfloat16 products the bound is another: test_cpp.py.
FLOAT32 = pytest.mark.parametrize("name", [name for name in LADDER if "bfloat16" not in name])
# All classes of backends and of optimizers.
BACKENDS = pytest.mark.parametrize("name", ["torch", "flat", "cpp", "cpp-bfloat16"])
TORCH = pytest.mark.parametrize("name", ["torch", "flat"])


def tiny(name):
    """Returns a small network of a learner's layers; None where C++ has code for one size alone."""
    if name.startswith("cpp"):
        return None
    squares = DenseSquares if name in ("torch", "lists") else SparseSquares
    score = scores_in_place if name in ("in-place", "flat") else gathered_scores
    return PolicyValueNetwork(16, 1, 8, squares=squares, score=score)


def make_backend(name, seed=0, network=None):
    torch.manual_seed(seed)
    return available(learners.kind(name).make, network, SETTINGS, **HOW)


def reference(seed=0):
    """The reference, in double precision."""
    torch.manual_seed(seed)
    return learners.kind("torch").make(PolicyValueNetwork().double(), SETTINGS, **HOW)


def make_learner(name, *, settings=SMALL, make_network=tiny):
    env = rungs.make("chess", "cpp", 8, opponent="random", mask=mask(name), max_plies=30)
    torch.manual_seed(7)
    network = make_network(name)
    learner = available(Learner, env, seed=7, settings=settings, learner=name, network=network)
    assert network in (None, learner.network)
    return learner


def available(make, *arguments, **settings):
    try:
        return make(*arguments, **settings)
    except UnavailableError as error:  # without AVX512-BF16
        pytest.skip(str(error))


def weights(learner):
    return torch.cat([parameter.detach().flatten() for parameter in learner.network.parameters()])


@functools.cache
def expected(name):
    """Gradients and parts of the loss of the reference for a batch."""
    played = batches.played("bits", name, dtype=torch.float64)
    gradients, parts = reference().gradients(played, torch.arange(len(played.choice)))
    return {weights: gradient.clone() for weights, gradient in gradients.items()}, parts


@pytest.mark.parametrize("batch", ["games", *batches.STARTS])
@FLOAT32
def test_gradients_are_the_references_in_double_precision(name, batch):
    played = batches.played(mask(name), batch)
    gradients, parts = make_backend(name).gradients(played, torch.arange(len(played.choice)))
    wanted, wanted_parts = expected(batch)
    assert gradients.keys() == wanted.keys()
    for weights, gradient in wanted.items():
        error = (gradients[weights].double() - gradient).abs().max()
        assert error < BOUND * gradient.abs().max().clamp(min=1e-12), f"{weights}: {error:.1e}"
    for part, value in wanted_parts.items():
        assert parts[part].item() == pytest.approx(value.item(), rel=1e-4, abs=1e-6), part


@FLOAT32
def test_updates_are_the_references_in_double_precision(name):
    """Also those of a part of what was played, in another order, one after the other."""
    rows = torch.randperm(96, generator=torch.Generator().manual_seed(4)).view(4, 24)[:3]
    backend, exact = make_backend(name, 5), reference(5)
    before = {weights: parameter.clone() for weights, parameter in exact.network.named_parameters()}
    played = batches.played(mask(name), "games", 96)
    wanted_parts = exact.improve(batches.played("bits", "games", 96, torch.float64), iter(rows))
    parts = backend.improve(played, iter(rows))
    assert parts == pytest.approx(wanted_parts, rel=1e-4, abs=1e-6)
    weights = dict(backend.network.named_parameters())
    for wanted_name, wanted in exact.network.named_parameters():
        moved = wanted - before[wanted_name]
        error = (weights[wanted_name].double() - wanted).norm() / moved.norm()
        # Adam divides by the root of a gradient's square: where one is next to nothing, so is all
        # that is known of it.
        assert error < 1e-3, f"{wanted_name}: {error:.1e}"


@pytest.mark.parametrize("batch", ["games", "both"])
@FLOAT32
def test_actions_are_sampled_as_the_reference_weighs_them(name, batch):
    positions = batches.played(mask(name), batch).positions
    exact = batches.played("bits", batch, dtype=torch.float64).positions
    actions, log_probabilities, value = reference().network(exact.observation, exact.mask)
    sample = make_backend(name).sample(positions, torch.Generator().manual_seed(6))
    choice = sample.choice[:, None]
    assert torch.equal(actions.gather(1, choice).squeeze(1), sample.action)
    near = {"rtol": 1e-4, "atol": 1e-5, "check_dtype": False}
    chosen = log_probabilities.gather(1, choice).squeeze(1)
    torch.testing.assert_close(sample.log_probability, chosen, **near)
    torch.testing.assert_close(sample.value, value, **near)
    torch.testing.assert_close(make_backend(name).values(positions.observation), value, **near)


@FLOAT32
def test_actions_are_as_frequent_as_they_are_likely(name):
    """Pearson's chi-squared over 20 legal moves of one position, drawn in 4,096 of it."""
    backend = make_backend(name, network=tiny(name))
    with torch.no_grad():  # so that they are not all about equally likely
        backend.network.action_key.weight.mul_(20)
    positions = batches.positions(mask(name), None, 4096)
    sample = backend.sample(positions, torch.Generator().manual_seed(7))
    counts = torch.bincount(sample.choice, minlength=20)
    exact = batches.positions("bits", None, 1)
    _, log_probabilities, _ = backend.network(exact.observation, exact.mask)
    likely = 4096 * log_probabilities[0].exp()
    assert len(likely) == 20
    assert likely.max() > 2 * likely.min()
    assert ((counts - likely) ** 2 / likely).sum() < 60  # of 19 degrees: one in 300,000


@pytest.mark.parametrize("updates", [0, 2])
@LEARNERS
def test_it_goes_on_as_the_saved_one(name, updates):
    """Another learner, which has learnt meanwhile, and the saved one itself."""
    learner, other = make_learner(name), make_learner(name)
    learner.begin(*learner.env.reset(seed=7))
    for _ in range(updates):
        learner.learn()
    saved = learner.state_dict()
    entropy, after = learner.learn()["entropy"], weights(learner).clone()
    other.learn()
    for resumed in (learner, other):
        resumed.load_state_dict(saved)
        assert resumed.learn()["entropy"] == entropy
        assert torch.equal(weights(resumed), after)


def test_an_unknown_learner_is_named():
    with pytest.raises(ConfigurationError, match="abacus"):
        learners.kind("abacus")
    env = rungs.make("chess", "cpp", 8, mask="bits")
    with pytest.raises(ConfigurationError, match="bits"):
        Learner(env, settings=SMALL, learner="cpp")


@BACKENDS
def test_a_network_that_is_also_evaluated_in_cpp_is_still_learnt(name):
    learner, alone = (
        make_learner(name, make_network=lambda name: PolicyValueNetwork()) for _ in range(2)
    )
    learner.learn()
    evaluator = CppNetwork(learner.network)
    leaves = [array.numpy() for array in batches.positions("list", None, 4)]
    evaluator.evaluate(*leaves)
    learner.learn()
    for _ in range(2):
        alone.learn()
    assert torch.equal(weights(learner), weights(alone))
    saved = torch.cat([tensor.flatten() for tensor in learner.state_dict()["network"].values()])
    assert torch.equal(saved, weights(alone))
    fresh = CppNetwork(copy.deepcopy(learner.network))
    for answer, wanted in zip(evaluator.evaluate(*leaves), fresh.evaluate(*leaves), strict=True):
        assert (answer == wanted).all()


@BACKENDS
def test_a_network_whose_memory_is_replaced_is_still_learnt(name):
    learner = make_learner(name)
    learner.learn()
    learner.network.half().float()
    rounded = weights(learner).clone()
    assert torch.equal(rounded, rounded.half().float())
    learner.learn()
    assert not torch.equal(weights(learner), rounded)
    saved = torch.cat([tensor.flatten() for tensor in learner.state_dict()["network"].values()])
    assert torch.equal(weights(learner), saved)


def copied_parameters(network):
    network.load_state_dict(copy.deepcopy(network.state_dict()), assign=True)


UNLEARNABLE = [
    (lambda network: network.double(), "network"),
    (lambda network: network.query.weight.requires_grad_(False), r"query\.weight"),
]
CASES = [(name, *case) for name in ("torch", "flat", "cpp", "cpp-bfloat16") for case in UNLEARNABLE]
CASES += [(name, copied_parameters, "network") for name in ("torch", "flat")]


@pytest.mark.parametrize(("name", "change", "named"), CASES)
def test_a_network_that_is_another_now_or_frozen_is_named_and_not_learnt(name, change, named):
    learner = make_learner(name)
    learner.learn()
    change(learner.network)
    batch, before = learner.rollout.batch(learner.rollout.reward), weights(learner).clone()
    with pytest.raises(ConfigurationError, match=named):
        learner.backend.improve(batch, learner.minibatches())
    assert torch.equal(weights(learner), before)


@BACKENDS
def test_it_learns_where_gradients_are_off_but_not_in_inference_mode(name):
    learner, other = make_learner(name), make_learner(name)
    with torch.inference_mode(), pytest.raises(ConfigurationError, match="inference_mode"):
        make_learner(name).learn()
    with torch.no_grad():
        learner.learn()
    other.learn()
    assert torch.equal(weights(learner), weights(other))


@BACKENDS
def test_minibatches_of_one_position_are_refused(name):
    learner = make_learner(name)
    learner.play()  # begins, too
    with pytest.raises(ConfigurationError, match="rows"):
        learner.backend.gradients(learner.rollout.batch(learner.rollout.reward), torch.arange(1))
    for number in (32, 5):  # of one position each; of 32 / 5
        with pytest.raises(ConfigurationError, match=f"num_minibatches={number}"):
            make_learner(name, settings=PpoSettings(num_steps=4, num_minibatches=number))


@BACKENDS
def test_a_loss_that_is_not_finite_moves_no_weight(name):
    """Whether its gradient is finite or not."""
    learner = make_learner(name, settings=PpoSettings(num_steps=4, num_minibatches=2, vf_coef=1e-3))
    learner.learn()
    before = weights(learner).clone()
    batch = learner.rollout.batch(learner.rollout.reward)
    batch.returns.fill_(3e19)  # its square is beyond float32
    with pytest.raises(DivergedError):
        learner.backend.improve(batch, learner.minibatches())
    assert torch.equal(weights(learner), before)
    with torch.no_grad():
        learner.network.value.bias.fill_(math.nan)
    before = weights(learner).clone()
    with pytest.raises(DivergedError, match="update 2"):
        learner.learn()
    torch.testing.assert_close(weights(learner), before, rtol=0, atol=0, equal_nan=True)


@TORCH
def test_a_gradient_that_is_not_finite_moves_no_weight(name):
    learner = make_learner(name)
    learner.network.norm.weight.register_hook(lambda gradient: gradient * math.inf)
    before = weights(learner).clone()
    with pytest.raises(DivergedError, match="update 1"):
        learner.learn()
    assert torch.equal(weights(learner), before)


@functools.cache
def gone_on(name):
    """Returns a learner, its state before its last update, and its state since."""
    learner = make_learner(name)
    learner.learn()
    saved = copy.deepcopy(learner.state_dict())
    learner.learn()
    return learner, saved, copy.deepcopy(learner.state_dict())


def steps_of_all_moments(step):
    def change(saved):
        for moments in saved["optimizer"]["state"].values():
            moments["step"] = torch.tensor(step)

    return change


WEIGHTS = 0.0, torch.zeros(3), torch.zeros(1).to_sparse(), torch.full((1,), math.nan)
STEPS = torch.tensor(math.nan), torch.tensor(7.0), "1"
GENERATORS = None, torch.zeros(3), torch.zeros(3, dtype=torch.uint8)
OF_ALL = [deleting("network", "value.bias"), setting(b"nothing", "own", "env")]
SPOILING = [
    lambda saved: saved.clear(),
    *(setting(None, *keys) for keys in (["network"], ["optimizer"], ["optimizer", "state"])),
    *(setting(value, "network", "value.bias") for value in WEIGHTS),
    setting(torch.zeros(1, device="meta"), "network", "value.bias"),
    *(setting(groups, "optimizer", "param_groups") for groups in ([], [{"lr": torch.zeros(2)}])),
    deleting("optimizer", "state", 0),
    *(setting(step, "optimizer", "state", 0, "step") for step in STEPS),
    *map(steps_of_all_moments, (1.5, -1.0)),
    lambda saved: saved["optimizer"]["state"][0]["exp_avg_sq"].fill_(math.inf),
    lambda saved: saved["optimizer"]["state"][0]["exp_avg_sq"].fill_(-1.0),
    *(setting("1", "updates"), setting(-1, "steps")),
    *(setting(value, "own", "generator") for value in GENERATORS),
]
SPOILED = [("flat", spoil) for spoil in SPOILING]
SPOILED += [(name, spoil) for name in ("flat", "torch", "cpp") for spoil in OF_ALL]


@pytest.mark.parametrize(("name", "spoil"), SPOILED)
def test_what_cannot_be_gone_on_from_is_refused_and_nothing_changes(name, spoil):
    learner, saved, before = gone_on(name)
    saved = copy.deepcopy(saved)
    spoil(saved)
    for wrong in (saved, None, [], "saved", {1: 2}):
        with pytest.raises(InvalidStateError):
            learner.load_state_dict(wrong)
    after = learner.state_dict()
    assert after["own"].pop("env") == before["own"]["env"]
    torch.testing.assert_close(after["own"]["generator"], before["own"]["generator"])
    for part in before.keys() - {"own"}:
        torch.testing.assert_close(after[part], before[part], rtol=0, atol=0)
