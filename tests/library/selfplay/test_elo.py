"""Ratings: published ones found again, what bounds them, and that intervals hold what they say."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rungs._src.selfplay import elo
from rungs.errors import ConfigurationError

# What the documentation of R's package BradleyTerry2 prints of the American League, 1987 (Agresti,
# Categorical Data Analysis): log odds relative to Baltimore's, standard errors.
ABILITIES = {
    "Milwaukee": (1.5814, 0.3433),
    "Detroit": (1.4364, 0.3396),
    "Toronto": (1.2945, 0.3367),
    "New York": (1.2476, 0.3359),
    "Boston": (1.1077, 0.3339),
    "Cleveland": (0.6839, 0.3319),
    "Baltimore": (0, 0),
}
# Wins at home against each team, in the same order, and of that team.
BASEBALL = """
    -   4-3 4-2 4-3 6-1 4-2 6-0
    3-3  -  4-2 4-3 6-0 6-1 4-3
    2-5 4-3  -  2-4 4-3 4-2 6-0
    3-3 5-1 2-5  -  4-3 4-2 6-1
    5-1 2-5 3-3 4-2  -  5-2 6-0
    2-5 3-3 3-4 4-3 4-2  -  2-4
    2-5 1-5 1-6 2-4 1-6 3-4  -
"""


def rated(results, anchor, **kwargs):
    return elo.rate(results, anchor=anchor, **kwargs).set_index("player")


def test_published_ratings_and_errors_are_found_again():
    results = {
        pair: tuple(map(int, won.split("-")))
        for pair, won in zip(itertools.product(ABILITIES, repeat=2), BASEBALL.split(), strict=True)
        if won != "-"
    }
    table = rated(results, "Baltimore", prior_draws=0)
    for team, (ability, error) in ABILITIES.items():
        assert table.loc[team, "elo"] * elo.SCALE == pytest.approx(ability, abs=6e-5), team
        width = (table.loc[team, "high"] - table.loc[team, "elo"]) * elo.SCALE
        assert width / 1.959964 == pytest.approx(error, abs=6e-5), team


# Counts of pairs, and the Elo and the half of its interval of 95 % that fastchess's tests have.
PAIRS = {(34, 54, 63, 64, 75): (55.58, 27.65), (332, 433, 498, 333, 334): (-8.64, 10.33)}


def test_published_intervals_of_pairs_are_found_again():
    for counts, (lead, half) in PAIRS.items():
        table = rated({("a", "b"): elo.Pairs(counts)}, "b", prior_draws=0)
        low, middle, high = table.loc["a", ["low", "elo", "high"]]
        assert middle == pytest.approx(lead, abs=0.005)
        assert (high - low) / 2 == pytest.approx(half, rel=0.01)
        mirrored = rated({("b", "a"): elo.Pairs(counts[::-1])}, "b", prior_draws=0)
        assert mirrored.loc["a", ["low", "high"]].to_list() == pytest.approx([low, high])


@pytest.mark.parametrize(("lead", "pairs"), [(0, 20), (300, 60)])
def test_pairs_give_the_interval_that_they_need(lead, pairs):
    """Where openings favour a side, single games seem to vary more than their pairs do."""
    rng, covered, narrower = np.random.default_rng(lead), 0, 0
    truth = math.fsum(elo.expected(lead + bias) for bias in (-400, 400)) / 2
    for _ in range(120):
        bias = rng.choice((-400, 400), pairs)
        chances = 1 / (1 + np.exp(-elo.SCALE * (lead + np.array([bias, -bias]))))
        points = (rng.random((2, pairs)) < chances).sum(axis=0)
        row = rated({("a", "b"): elo.Pairs.of(points)}, "b").loc["a"]
        low, high = (elo.expected(row[end]) for end in ("low", "high"))
        covered += low <= truth <= high
        singles = rated({("a", "b"): (points.sum(), 2 * pairs - points.sum())}, "b").loc["a"]
        narrower += row["high"] - row["low"] < singles["high"] - singles["low"]
    assert covered >= 108  # 114 of 120 are expected
    assert narrower > 60


def test_pairs_that_all_end_alike_leave_an_interval():
    for counts in ((0, 0, 3, 0, 0), (0, 0, 0, 0, 3)):
        row = rated({("a", "b"): elo.Pairs(counts)}, "b").loc["a"]
        assert row["high"] - row["elo"] > 100


def test_ratings_of_several_players_may_be_given():
    games = {"level 1": (elo.expected(-100), 1000), "level 2": (elo.expected(-300), 1200)}
    results = {("a", name): (share * 50, 50 - share * 50) for name, (share, _) in games.items()}
    table = rated(results, {name: rating for name, (_, rating) in games.items()}, prior_draws=0)
    assert table.loc["a", "elo"] == pytest.approx(900)
    for name, (_, rating) in games.items():
        assert table.loc[name, ["low", "elo", "high"]].to_list() == pytest.approx([rating] * 3)
    alone = rated(dict([results.popitem()]), "level 2", prior_draws=0)
    both, one = (t.loc["a", "high"] - t.loc["a", "elo"] for t in (table, alone))
    assert both < one  # more games say more


def test_draws_are_half_a_point_and_games_may_come_one_by_one():
    games = [("a", "b", 1), ("a", "b", 0.5), ("b", "a", 0.5)]
    one_by_one = rated(games, "b")
    assert one_by_one.equals(rated({("a", "b"): (2, 1)}, "b"))
    assert one_by_one.loc["a", ["games", "score"]].to_list() == [3, pytest.approx(2 / 3)]


def test_who_wins_everything_is_bounded_by_the_prior_alone():
    with pytest.raises(ConfigurationError, match=r"'a'.*'b'"):
        elo.rate({("a", "b"): (10, 0)}, anchor="b", prior_draws=0)
    # Ten wins and two draws.
    assert rated({("a", "b"): (10, 0)}, "b").loc["a", "elo"] == pytest.approx(
        400 * math.log10(11 / 1)
    )


def test_what_is_no_result_is_named():
    for named, results in {
        "'[abcd]'": {("a", "b"): (1, 1), ("c", "d"): (1, 1)},
        "anchor='a'": {("c", "b"): (1, 1)},
        "'a'": {("a", "a"): (1, 1)},
        "-1": {("a", "b"): (-1, 1)},
        "2": [("a", "b", 2)],
        "nan": {("a", "b"): (math.nan, 1)},
    }.items():
        with pytest.raises(ConfigurationError, match=named):
            elo.rate(results, anchor="a")


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-800, 800), min_size=2, max_size=6))
def test_expected_scores_give_the_ratings_that_they_stem_from(ratings):
    results = {
        (f"p{i}", f"p{j}"): (100 * (won := elo.expected(a - b)), 100 * (1 - won))
        for i, a in enumerate(ratings)
        for j, b in enumerate(ratings)
        if i < j
    }
    table = rated(results, "p0", prior_draws=0)
    for i, rating in enumerate(ratings):
        assert table.loc[f"p{i}", "elo"] == pytest.approx(rating - ratings[0], abs=1e-3)
