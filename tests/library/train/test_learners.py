"""Every learner plays and improves as the reference does, and goes on from where it was."""

import copy
import math
import re

import pytest
import torch

import rungs
from rungs._src.train import learners
from rungs._src.train.cpp_network import CppNetwork
from rungs._src.train.network import LegalActionNetwork
from rungs._src.train.ppo import Learner
from rungs._src.train.settings import PpoSettings
from rungs.errors import (
    CompilerError,
    ConfigurationError,
    DivergedError,
    InvalidStateError,
    UnavailableError,
)
from rungs_course import paths
from rungs_course.learners import LADDER, mask

SMALL = PpoSettings(num_steps=4, num_minibatches=2)
NAMES = pytest.mark.parametrize("name", LADDER)


def learner(name, *, max_plies=30, **how):
    env = rungs.make("chess", "cpp", 8, opponent="random", mask=mask(name), max_plies=max_plies)
    try:
        return Learner(env, seed=7, settings=SMALL, learner=name, **how)
    except (CompilerError, UnavailableError) as error:
        pytest.skip(str(error))


def weights(made):
    return torch.cat([each.detach().flatten() for each in made.network.parameters()])


@NAMES
def test_it_goes_on_as_the_saved_one(name):
    first, second, third = (learner(name) for _ in range(3))
    metrics = [first.learn() for _ in range(3)]
    for _ in range(2):
        third.learn()
    second.load_state_dict(third.state_dict())
    assert second.learn()["entropy"] == metrics[-1]["entropy"]
    assert torch.equal(weights(second), weights(first))


@NAMES
def test_a_learner_goes_back_to_what_it_saved(name):
    made = learner(name)
    made.learn()
    saved = made.state_dict()
    entropy, after = made.learn()["entropy"], weights(made).clone()
    made.load_state_dict(saved)
    assert made.learn()["entropy"] == entropy
    assert torch.equal(weights(made), after)


@NAMES
def test_what_was_played_is_legal_and_as_likely_as_it_says(name):
    made = learner(name)
    made.learn()
    made.play()
    positions = made.rollout.positions(3)
    found = mask(name) == "list"
    count = positions.action_count if found else None
    choice = made.rollout.choice
    assert (choice >= 0).all()
    if count is not None:
        assert (choice[3] < count).all()
    assert (made.rollout.log_probability <= 0).all()
    assert made.rollout.value.isfinite().all()


@NAMES
def test_it_learns_where_all_games_end_at_once(name):
    """Every step ends every game, so that nothing later counts."""
    made, reference = (learner(each, max_plies=1) for each in (name, "torch"))
    for each in (made, reference):
        each.begin(*each.env.reset(seed=1))
        each.play()
        assert each.rollout.ended.all()
    assert all(math.isfinite(value) for value in made.learn().values())


@NAMES
def test_its_curve_begins_like_the_references(name):
    """The first update learns from the same games, as far as sampling is the same."""
    found, wanted = (learner(each).learn() for each in (name, "torch"))
    assert found["entropy"] == pytest.approx(wanted["entropy"], rel=0.02)
    assert found["value_loss"] == pytest.approx(wanted["value_loss"], rel=0.5)


def test_an_unknown_learner_is_named():
    with pytest.raises(ConfigurationError, match="learner='abacus' is not one of 'flat'"):
        learners.kind("abacus")
    env = rungs.make("chess", "cpp", 8, mask="bits")
    with pytest.raises(ConfigurationError, match="mask='list', not 'bits'"):
        Learner(env, settings=SMALL, learner="cpp")


@NAMES
def test_it_is_explained(name):
    row = rf"^\| `{name}` \|.*\| `mask=\"{mask(name)}\"` \|$"
    assert re.search(row, (paths.ROOT / "docs" / "training.md").read_text(), re.MULTILINE)


class Tiny(LegalActionNetwork):
    """A network of one's own: a score for each action, whatever the position."""

    def __init__(self):
        super().__init__()
        self.score = torch.nn.Embedding(4672, 1)
        self.value = torch.nn.Linear(72, 1)

    def scores(self, observation, legal):
        return self.score(legal.action).squeeze(1), self.value(observation.float()).squeeze(1)


@pytest.mark.parametrize("name", ["torch", "lists", "flat"])
def test_a_network_of_ones_own_learns(name):
    torch.manual_seed(0)
    network = Tiny()
    before = network.score.weight.detach().clone()
    made = learner(name, network=network)
    made.learn()
    assert made.network is network
    assert not torch.equal(network.score.weight, before)


@NAMES
def test_a_network_that_is_also_evaluated_in_cpp_is_still_learnt(name):
    made, alone = learner(name), learner(name)
    made.learn()
    evaluator = CppNetwork(made.network)
    env = rungs.make("chess", "cpp", 4, mask="list")
    observation, info = env.reset(seed=1)
    leaves = observation, info["action_mask"], info["action_count"]
    evaluator.evaluate(*leaves)
    made.learn()
    for _ in range(2):
        alone.learn()
    assert torch.equal(weights(made), weights(alone))
    saved = torch.cat([each.flatten() for each in made.state_dict()["network"].values()])
    assert torch.equal(saved, weights(alone))
    fresh = CppNetwork(copy.deepcopy(made.network))
    for found, wanted in zip(evaluator.evaluate(*leaves), fresh.evaluate(*leaves), strict=True):
        assert (found == wanted).all()


@NAMES
def test_a_network_whose_memory_is_replaced_is_still_learnt(name):
    made = learner(name)
    made.learn()
    made.network.half().float()
    rounded = weights(made).clone()
    assert torch.equal(rounded, rounded.half().float())
    made.learn()
    assert not torch.equal(weights(made), rounded)
    assert torch.equal(
        weights(made), torch.cat([each.flatten() for each in made.state_dict()["network"].values()])
    )


@NAMES
def test_two_learners_may_move_one_network_in_turns(name):
    made = learner(name)
    other = learner(name, network=made.network)
    for each in (made, other, made, other):
        before = weights(made).clone()
        each.learn()
        assert not torch.equal(weights(made), before)
        assert torch.equal(weights(made), weights(other))


@NAMES
def test_a_network_that_is_another_now_is_not_learnt(name):
    made = learner(name)
    made.learn()
    made.network.double()
    before = weights(made).clone()
    with pytest.raises(ConfigurationError, match="network"):
        made.backend.improve(made.rollout.batch(made.rollout.reward), made.minibatches())
    assert torch.equal(weights(made), before)


@pytest.mark.parametrize("name", ["torch", "flat"])
def test_parameters_that_the_optimizer_does_not_have_are_not_learnt(name):
    made = learner(name)
    made.learn()
    made.network.load_state_dict(copy.deepcopy(made.network.state_dict()), assign=True)
    with pytest.raises(ConfigurationError, match="network"):
        made.learn()


@NAMES
def test_frozen_parameters_are_named_and_nothing_is_learnt(name):
    made = learner(name)
    made.network.query.weight.requires_grad_(False)
    before = weights(made).clone()
    with pytest.raises(ConfigurationError, match=re.escape("query.weight")):
        made.learn()
    assert torch.equal(weights(made), before)


@NAMES
def test_inference_mode_is_named(name):
    made = learner(name)
    with torch.inference_mode(), pytest.raises(ConfigurationError, match="inference_mode"):
        made.learn()


@NAMES
def test_it_learns_the_same_where_gradients_are_off(name):
    made, other = learner(name), learner(name)
    with torch.no_grad():
        made.learn()
    other.learn()
    assert torch.equal(weights(made), weights(other))


@NAMES
def test_minibatches_of_one_position_are_refused(name):
    made = learner(name)
    made.play()  # begins, too
    with pytest.raises(ConfigurationError, match="rows"):
        made.backend.gradients(made.rollout.batch(made.rollout.reward), torch.arange(1))
    with pytest.raises(ConfigurationError, match="num_minibatches=32"):
        Learner(made.env, settings=PpoSettings(num_steps=4, num_minibatches=32), learner=name)


@NAMES
def test_a_loss_that_is_not_finite_moves_no_weight(name):
    made = learner(name)
    made.learn()
    with torch.no_grad():
        made.network.value.bias.fill_(math.nan)
    before = weights(made).clone()
    with pytest.raises(DivergedError, match="update 2"):
        made.learn()
    torch.testing.assert_close(weights(made), before, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("name", ["torch", "flat"])
def test_a_gradient_that_is_not_finite_moves_no_weight(name):
    made = learner(name)
    made.network.norm.weight.register_hook(lambda gradient: gradient * math.inf)
    before = weights(made).clone()
    with pytest.raises(DivergedError, match="update 1"):
        made.learn()
    assert torch.equal(weights(made), before)


def _moments(saved):
    return saved["optimizer"]["state"].values()


def _first_moment(saved):
    return saved["optimizer"]["state"][0]


@pytest.fixture(scope="module", params=["torch", "flat", "cpp"])
def gone_on(request):
    """A learner, and what it saved before its last update."""
    made = learner(request.param)
    made.learn()
    saved = copy.deepcopy(made.state_dict())
    made.learn()
    return made, saved


@pytest.mark.parametrize(
    "spoil",
    [
        lambda saved: saved.pop("network"),
        lambda saved: saved.update(network=None),
        lambda saved: saved["network"].update({"value.bias": torch.zeros(1).to_sparse()}),
        lambda saved: saved["network"].update({"value.bias": torch.full((1,), math.nan)}),
        lambda saved: saved["network"].update({"value.bias": torch.zeros(1, device="meta")}),
        lambda saved: saved["network"].update({"value.bias": 0.0}),
        lambda saved: saved.update(optimizer=None),
        lambda saved: saved["optimizer"].update(state=None),
        lambda saved: saved["optimizer"].update(param_groups=[{"lr": torch.zeros(2)}]),
        lambda saved: _first_moment(saved).update(step=torch.tensor(math.nan)),
        lambda saved: [each.update(step=torch.tensor(1.5)) for each in _moments(saved)],
        lambda saved: _first_moment(saved).update(step=torch.tensor(7.0)),
        lambda saved: _first_moment(saved).update(step="1"),
        lambda saved: _first_moment(saved)["exp_avg_sq"].fill_(math.inf),
        lambda saved: saved.update(updates="1"),
        lambda saved: saved.update(steps=-1),
        lambda saved: saved["own"].update(generator=None),
        lambda saved: saved["own"].update(generator=torch.zeros(3)),
        lambda saved: saved["own"].update(env=b"nothing"),
        lambda saved: saved.pop("own"),
    ],
)
def test_what_cannot_be_gone_on_from_is_refused_and_nothing_changes(gone_on, spoil):
    made, saved = gone_on[0], copy.deepcopy(gone_on[1])
    before = copy.deepcopy(made.state_dict())
    spoil(saved)
    with pytest.raises(InvalidStateError):
        made.load_state_dict(saved)
    torch.testing.assert_close(made.state_dict(), before, rtol=0, atol=0)


@pytest.mark.parametrize("saved", [None, [], "saved", {1: 2}])
def test_what_is_no_save_is_refused(saved):
    with pytest.raises(InvalidStateError):
        learner("flat").load_state_dict(saved)
