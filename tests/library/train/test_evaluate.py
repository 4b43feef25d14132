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


# Four boards end their first games in one step or another, and then more of them.
SCRIPT = [
    ((1, 0, 0, 0), (True, True, False, False)),
    ((-1, 0, -1, 1), (True, False, True, True)),
    ((1, 1, 1, 1), (True, True, True, True)),
]


def test_only_first_games_count_each_as_it_ended(monkeypatch):
    env = rungs.make("chess", "cpp", 4, mask="bits")
    step, script = env.step, iter(SCRIPT)

    def scripted(actions):
        observation, *_, info = step(actions)
        reward, ended = map(np.array, next(script))
        return observation, reward, ended, np.zeros(4, bool), info

    monkeypatch.setattr(env, "step", scripted)
    monkeypatch.setattr(rungs, "make", lambda *arguments, **settings: env)
    assert evaluate(TINY, games=4) == Evaluation(wins=2, draws=1, losses=1)


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
