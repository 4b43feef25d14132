"""Scores and their intervals."""

import math

import numpy as np
import pytest
import torch

import rungs
from rungs._src.programs import find_program
from rungs._src.train.evaluate import Evaluation, evaluate
from rungs._src.train.network import PolicyValueNetwork
from rungs._src.train.training import weakest
from rungs.errors import ConfigurationError, DivergedError
from rungs_course.notebooks import nb15_games as watch

STOCKFISH = find_program("stockfish")
torch.manual_seed(0)
TINY = PolicyValueNetwork(16, 1, 8)


class Scripted:
    """Four boards, which end their first games in one step or another, and then more of them."""

    REWARDS = ((1, 0, 0, 0), (-1, 0, -1, 1), (1, 1, 1, 1))
    ENDED = ((True, True, False, False), (True, False, True, True), (True, True, True, True))

    def __init__(self, env):
        self.env, self.scripts = env, zip(self.REWARDS, self.ENDED, strict=True)

    def __getattr__(self, name):
        return getattr(self.env, name)

    def step(self, actions):
        observation, *_, info = self.env.step(actions)
        reward, ended = next(self.scripts)
        return observation, np.array(reward, np.float32), np.array(ended), np.zeros(4, bool), info


def test_only_first_games_count_each_as_it_ended(monkeypatch):
    env = rungs.make("chess", "cpp", 4, mask="bits")
    monkeypatch.setattr(rungs, "make", lambda *arguments, **settings: Scripted(env))
    assert evaluate(TINY, games=4) == Evaluation(wins=2, draws=1, losses=1)


def test_the_same_seed_plays_the_same_games():
    first, again = (evaluate(TINY, games=20, seed=5, max_plies=300) for _ in range(2))
    assert first == again
    assert first.games == 20
    assert first.wins + first.losses > 0


def test_the_interval_is_wilsons():
    """As published for 8 of 10: 0.4902 to 0.9433 (Wallis 2013)."""
    low, high = Evaluation(8, 0, 2).interval()
    assert (low, high) == (pytest.approx(0.4902, abs=1e-4), pytest.approx(0.9433, abs=1e-4))


@pytest.mark.parametrize("chances", [(0.1, 0.8, 0.1), (0.9, 0.09, 0.01), (0.5, 0.0, 0.5)])
def test_the_interval_holds_the_truth_at_least_as_often_as_it_says(chances):
    rng = np.random.default_rng(0)
    truth = chances[0] + chances[1] / 2
    held = 0
    for counts in rng.multinomial(200, chances, size=1000):
        low, high = Evaluation(*map(int, counts)).interval()
        held += low <= truth <= high
    assert held >= 935  # of 1,000, at 95 % within three standard deviations


class Failing(PolicyValueNetwork):
    def scores(self, observation, legal):
        raise KeyboardInterrupt


def test_an_environment_is_closed_where_the_network_raises(monkeypatch):
    made, make = [], rungs.make
    monkeypatch.setattr(
        rungs, "make", lambda *how, **more: made.append(make(*how, **more)) or made[-1]
    )
    for play in (evaluate, lambda network: watch.games(network, 2, seed=0)):
        with pytest.raises(KeyboardInterrupt):
            play(Failing(16, 1, 8))
    assert len(made) == 2
    assert all(env.closed for env in made)


def test_probabilities_that_are_not_finite_are_named():
    network = PolicyValueNetwork(16, 1, 8)
    with torch.no_grad():
        network.query.bias.fill_(math.nan)
    with pytest.raises(DivergedError):
        evaluate(network, games=2)


@pytest.mark.parametrize(
    ("argument", "value"),
    [("device", "mars"), ("seed", 2**64), ("max_plies", "x"), ("opponent", 3), ("games", 1)],
)
def test_arguments_of_something_else_are_named(argument, value):
    with pytest.raises(ConfigurationError, match=argument):
        evaluate(TINY, **{"games": 2} | {argument: value})


@pytest.mark.needs("stockfish")
def test_stockfish_at_its_weakest_beats_who_knows_nothing():
    outcome = evaluate(TINY, opponent=weakest(STOCKFISH), games=10, max_plies=300)
    assert outcome.games == 10
    assert outcome.losses > outcome.wins
