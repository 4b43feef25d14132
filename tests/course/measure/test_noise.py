"""Factors and their noise."""

import numpy as np
import pytest

from rungs.errors import ConfigurationError
from rungs_course.measure import noise


def test_an_interval_leaves_out_what_chance_allows():
    known = ((1, 0), (2, 0), (5, 0), (8, 0), (9, 1), (12, 2), (15, 3), (21, 5), (10_000, 4906))
    for count, left_out in known:
        low, high = noise.interval(range(count))
        assert (low, high) == (left_out, count - 1 - left_out), count


def test_an_interval_holds_the_median_as_often_as_it_says():
    rng = np.random.default_rng(0)
    for count in (5, 9, 15, 40):
        held = 0
        for _ in range(2000):
            low, high = noise.interval(rng.lognormal(size=count))
            held += low <= 1 <= high
        assert held / 2000 > 0.92, count


def test_a_factor_is_beyond_noise_where_no_repeat_says_otherwise():
    assert noise.factor([1.1, 1.2, 1.3, 1.2, 1.1]).beyond()
    assert noise.factor([0.9, 0.8, 0.9, 0.8, 0.9]).beyond()
    assert not noise.factor([1.1, 1.2, 0.99, 1.2, 1.1]).beyond()
    assert not noise.factor([1.1, 1.2, 1.3, 1.2, 1.1]).beyond(1.25)
    few = noise.factor([1.1, 1.2, 1.3, 1.2])
    assert not few.judged
    assert not few.beyond()


def test_two_that_took_no_turns_have_a_noise_each():
    found = noise.factor_apart([2, 3, 4, 3, 3], [1, 2, 2, 2, 2.5, 2])
    assert (found.middle, found.repeats) == (1.5, 5)
    assert (found.low, found.high) == pytest.approx((2 / 2.5, 4 / 1))


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_a_median_that_is_no_number_is_not_judged(odd):
    found = noise.factor([1.2] + [odd] * 5)
    assert not found.judged
    assert not found.beyond()
    assert not noise.factor([1.2] * 5 + [np.nan]).beyond()


def test_seconds_of_0_are_not_judged():
    for ours, theirs in (([0.0] * 5, [0.0] * 5), ([1.0] * 5, [0.0] * 5)):
        assert not noise.factor_apart(ours, theirs).beyond()


def test_no_repeats_have_no_median():
    with pytest.raises(ConfigurationError, match="no repeats"):
        noise.factor([])
