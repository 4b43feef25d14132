"""Functions of real numbers, noise, and the schedule of sequential halving."""

import math

import numpy as np
import pytest

from rungs._src.search.numerics import Draws, exp, log
from rungs._src.search.settings import halving


def test_exp_and_log_are_right_to_a_few_units_in_the_last_place():
    rng = np.random.default_rng(0)
    for x in [*rng.uniform(-690, 1, 3000), *-rng.exponential(1, 3000), 0.0, -1e-300, 600.0]:
        assert exp(x) == pytest.approx(math.exp(x), rel=2e-15)
    for x in [*np.exp(rng.uniform(-80, 80, 3000)), *(1 - rng.random(3000) * 1e-3), 1.0, 2.0, 0.5]:
        assert log(x) == pytest.approx(math.log(x), rel=1e-15, abs=1e-16)
    assert exp(-math.inf) == exp(-1e4) == exp(-700.0) < 1e-300


@pytest.mark.parametrize("alpha", [0.03, 0.3, 1.0, 4.0])
def test_gammas_have_their_mean_and_variance(alpha):
    sample = [Draws(1, 2, 3, ply).gamma(7, alpha) for ply in range(4000)]
    error = 5 * math.sqrt(alpha / 4000)
    assert np.mean(sample) == pytest.approx(alpha, abs=error)
    assert np.var(sample) == pytest.approx(alpha, abs=10 * error * (1 + alpha))
    assert min(sample) > 0


def test_gumbels_have_their_mean_and_variance():
    sample = [Draws(1, 0, 0, 0).gumbel(action) for action in range(4672)]
    assert np.mean(sample) == pytest.approx(0.5772, abs=0.1)
    assert np.var(sample) == pytest.approx(math.pi**2 / 6, abs=0.25)


def test_every_use_draws_other_numbers():
    draws = [
        Draws(*numbers).gumbel(action)
        for numbers in ((0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))
        for action in range(100)
    ]
    assert len({*draws, Draws(0, 0, 0, 0).choice()}) == len(draws) + 1


def test_halving_visits_fewer_and_fewer_actions_more_and_more():
    # 16 simulations of 4 actions: two of each, then four of the better half (one round is 8).
    assert halving(4, 16)[4].tolist() == [0] * 4 + [1] * 4 + [2, 2, 3, 3, 4, 4, 5, 5]
    assert halving(4, 16)[1].tolist() == list(range(16))
    # With fewer simulations than a round asks for it ends early.
    assert halving(16, 5)[16].tolist() == [0] * 5
