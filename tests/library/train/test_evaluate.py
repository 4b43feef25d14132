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
    """As published for 8 of 10: 0.4902 to 0.9433 (Wallis 2013). A draw is half a point."""
    for evaluation in (Evaluation(8, 0, 2), Evaluation(7, 2, 1)):
        assert evaluation.interval() == pytest.approx((0.4902, 0.9433), abs=1e-4)


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
