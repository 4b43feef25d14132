"""What is learnt: the loss by hand, and that a policy and outcomes are taken over."""

import copy
import dataclasses
import math

import numpy as np
import pytest
import torch

from rungs._src.native import loader
from rungs._src.selfplay import learning
from rungs._src.selfplay.examples import Examples, joined
from rungs._src.selfplay.learning import LossWeights, losses
from rungs._src.selfplay.settings import LEARNERS
from rungs._src.train.network import PolicyValueNetwork
from rungs.errors import ConfigurationError
from tests.library.train import batches
from tests.library.train.test_learners import available

WEIGHTS = LossWeights(learning_rate=1e-3, vf_coef=0.5, max_grad_norm=1.0)


@pytest.fixture(params=LEARNERS)
def name(request):
    if "bfloat16" in request.param:
        available(loader.bfloat16_unit, loader.load_learn())
    return request.param


def positions():
    observation = np.zeros((2, 72), np.int8)
    observation[:, 4], observation[0, 60], observation[1, 61] = 6, -6, -6
    policy = np.array([0.5, 0.5, 1.0, 0.0, 0.0], np.float16)
    action = np.array([4, 68, 4, 68, 132], np.int16)
    outcome, value = np.array([1, -1], np.int8), np.array([0.5, 0.0], np.float16)
    return Examples(observation, np.array([2, 3], np.int16), action, policy, outcome, value)


class Fixed:
    """A network of given scores and values."""

    def scores(self, observation, legal):
        assert legal.board.tolist() == [0, 0, 1, 1, 1]
        assert legal.action.tolist() == [4, 68, 4, 68, 132]
        return torch.tensor([0.0, math.log(3), 0.0, 0.0, 0.0]), torch.tensor([0.5, 0.0])


def test_the_loss_by_hand():
    policy_loss, value_loss = losses(Fixed(), positions(), value_mix=0.25)
    first = 0.5 * math.log(0.5 / 0.25) + 0.5 * math.log(0.5 / 0.75)
    assert float(policy_loss) == pytest.approx((first + math.log(3)) / 2)
    # Targets of 0.75 * 1 + 0.25 * 0.5 and 0.75 * -1, and values of 0.5 and 0.
    assert float(value_loss) == pytest.approx((0.375**2 + 0.75**2) / 2)


def played(count, seed):
    """Positions after some random plies, whose policies and outcomes are drawn."""
    positions = batches.positions("list", None, count, plies=30)
    observation, lists, counts = (array.numpy() for array in positions)
    rng = np.random.default_rng(seed)
    listed = np.arange(lists.shape[1]) < counts[:, None]
    policy = rng.random(lists.shape) * (rng.random(lists.shape) < 0.5) + 1e-3 * listed
    policy = policy / (policy * listed).sum(1, keepdims=True)
    return Examples(
        observation,
        counts,
        lists[listed],
        policy[listed].astype(np.float16),
        rng.integers(-1, 2, count).astype(np.int8),
        rng.uniform(-1, 1, count).astype(np.float16),
    )


def test_losses_and_gradients_of_cpp_are_those_of_pytorch_in_double_precision():
    torch.manual_seed(1)
    network = PolicyValueNetwork().double()
    learner = learning.CppLearner(
        network, LossWeights(value_mix=0.3, vf_coef=0.7, max_grad_norm=1e9)
    )
    examples = played(150, 5)
    policy_loss, value_loss = losses(network, examples, value_mix=0.3)
    (policy_loss + 0.7 * value_loss).backward()
    expected = {name: parameter.grad.clone() for name, parameter in network.named_parameters()}
    parts = learner.learn(examples)
    assert parts["policy_loss"] == pytest.approx(policy_loss.item(), rel=1e-9)
    assert parts["value_loss"] == pytest.approx(value_loss.item(), rel=1e-9)
    for name, gradient in learner.memory.gradients.items():
        torch.testing.assert_close(gradient, expected[name], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", ["cpp", "torch"])
def test_an_evaluator_is_the_network(name):
    torch.manual_seed(2)
    network = PolicyValueNetwork()
    with torch.no_grad():
        network.value.weight *= 20  # beyond -1 and 1
    examples = played(70, 6)
    given = (examples.observation, examples.actions(), examples.count)
    logits, values = learning.evaluator(name, network)(*given)
    with torch.no_grad():
        observation, actions, count = map(torch.from_numpy, given)
        scores, worth = network.scores(observation, learning.from_lists(actions, count))
    legal_logits = logits[np.arange(logits.shape[1]) < examples.count[:, None]]
    np.testing.assert_allclose(legal_logits, scores, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(values, worth.clamp(-1, 1), rtol=1e-4, atol=1e-5)
    assert (worth.abs() > 1).any()


def test_an_evaluator_keeps_the_weights_of_its_beginning(name):
    network, examples = PolicyValueNetwork(), played(3, 6)
    leaves = (examples.observation, examples.actions(), examples.count)
    evaluator = learning.evaluator(name, network)
    before = [array.copy() for array in evaluator(*leaves)]
    for parameter in network.parameters():
        parameter.data += 1
    for array, expected in zip(evaluator(*leaves), before, strict=True):
        np.testing.assert_array_equal(array, expected)


def test_the_same_seed_learns_the_same(name):
    """Also where gradients are off, from arrays of another order, and after going on."""
    first, second, resumed = (learning.make(name, seed, WEIGHTS) for seed in (3, 3, 4))
    examples = positions()
    columns = dataclasses.replace(examples, observation=np.asfortranarray(examples.observation))
    with torch.no_grad():
        parts = first.learn(columns)
    assert second.learn(examples) == parts
    resumed.load_state_dict(first.state_dict())
    for learner in (first, second, resumed):
        learner.learn(examples)
    for other in (second, resumed):
        for parameter, same in zip(
            first.network.parameters(), other.network.parameters(), strict=True
        ):
            assert torch.equal(parameter, same)


def test_weights_of_the_loss_that_are_no_numbers_are_named():
    for name in ("learning_rate", "vf_coef", "max_grad_norm"):
        for value in (math.nan, -1.0, "1", *([math.inf] if name == "learning_rate" else ())):
            with pytest.raises(ConfigurationError, match=name):
                dataclasses.replace(WEIGHTS, **{name: value})


def test_what_no_position_has_is_not_learnt(name):
    learner, some = learning.make(name, 0, WEIGHTS), positions()
    before = copy.deepcopy(dict(learner.network.state_dict()))
    pieces = dataclasses.replace(some, observation=2 * some.observation)
    counts = dataclasses.replace(some, count=np.array([5, 0], np.int16))
    for given in (None, [1, 2], joined([]), pieces, counts):
        with pytest.raises(ConfigurationError):
            learner.learn(given)
    torch.testing.assert_close(dict(learner.network.state_dict()), before, rtol=0, atol=0)
