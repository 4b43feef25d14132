"""A sequential test has published likelihood ratios, and errs as seldom as it says."""

import numpy as np
import pytest

from rungs._src.selfplay import elo
from rungs._src.selfplay.elo import Pairs
from rungs._src.selfplay.sprt import Sprt
from rungs.errors import ConfigurationError

# Of tests on Fishtest (Stockfish's pull request 3209), and of fastchess's own tests.
PUBLISHED = [
    ((253, 4282, 17604, 4431, 286), (-0.25, 1.25), 2.94),
    ((58, 3302, 33130, 3518, 84), (0.25, 1.25), 2.97),
    ((223, 9863, 21279, 10037, 246), (0.5, 2.5), -3.07),
    ((871, 26175, 55983, 26678, 821), (0, 2), -4.98),
]


@pytest.mark.parametrize(("counts", "leads", "log_ratio"), PUBLISHED)
def test_published_ratios_are_found_again(counts, leads, log_ratio):
    test = Sprt(*leads)
    assert test.log_ratio(Pairs(counts)) == pytest.approx(log_ratio, abs=0.005)
    other = Sprt(-leads[1], -leads[0]).log_ratio(Pairs(counts[::-1]))
    assert other == pytest.approx(-test.log_ratio(Pairs(counts)))


def lengths(test, lead, matches=80):
    """What a test accepts in matches of a lead, and after how many pairs."""
    rng, accepted, pairs = np.random.default_rng(3), [], []
    chances = elo.expected(lead) + np.array([0.1, -0.1])  # openings favour a side
    for _ in range(matches):
        points, verdict = [], None
        while verdict is None:
            points.append((rng.random(2) < chances).sum())
            verdict = test.accepted(Pairs.of(points))
        accepted.append(verdict)
        pairs.append(len(points))
    return accepted, np.mean(pairs)


def test_it_errs_as_seldom_as_it_says():
    test = Sprt(0, 150, alpha=0.02, beta=0.2)
    accepted, mean = lengths(test, 0)
    assert accepted.count(150) <= 5  # 1 or 2 are expected of 80
    accepted, _ = lengths(test, 150)
    assert 4 <= accepted.count(0) <= 24  # 16, or fewer as ratios go beyond the bound
    _, sooner = lengths(test, -300)
    assert sooner < mean / 2


def test_what_is_no_test_is_named():
    for settings, named in (((5, 5), "elo0"), ((0, float("nan")), "elo1"), ((0, 5, 0), "alpha")):
        with pytest.raises(ConfigurationError, match=named):
            Sprt(*settings)
