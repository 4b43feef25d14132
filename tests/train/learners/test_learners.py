"""Every learner plays and improves as the reference does, and goes on from where it was."""

import math
import re

import pytest
import torch

import rungs
from rungs import paths
from rungs.errors import CompilerError, ConfigurationError, UnavailableError
from rungs.train import learners
from rungs.train.network import LegalActionNetwork
from rungs.train.ppo import Learner
from rungs.train.settings import PpoSettings

SMALL = PpoSettings(num_steps=4, num_minibatches=2)
NAMES = pytest.mark.parametrize("name", learners.names())


def learner(name, *, max_plies=30, **how):
    mask = learners.rung(name).mask
    env = rungs.make("chess", "cpp", 8, opponent="random", mask=mask, max_plies=max_plies)
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
    second.load(third.save())
    assert second.learn()["entropy"] == metrics[-1]["entropy"]
    assert torch.equal(weights(second), weights(first))


@NAMES
def test_what_was_played_is_legal_and_as_likely_as_it_says(name):
    made = learner(name)
    made.learn()
    made.play()
    positions = made.rollout.positions(3)
    found = learners.rung(name).mask == "list"
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
    with pytest.raises(ConfigurationError, match="learner='abacus' is not one of 'torch'"):
        learners.rung("abacus")
    env = rungs.make("chess", "cpp", 8, mask="list")
    with pytest.raises(ConfigurationError, match="mask='bits', not 'list'"):
        Learner(env, settings=SMALL)


@NAMES
def test_it_is_explained(name):
    row = rf"^\| `{name}` \|.*\| `mask=\"{learners.rung(name).mask}\"` \|$"
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
