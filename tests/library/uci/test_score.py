"""Scores say what values mean."""

import chess.engine
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rungs._src.uci.score import centipawns, permille

VALUES = st.floats(-1, 1)


@given(st.floats(-0.94, 0.94))
def test_centipawns_are_worth_the_value_on_lichess(value):
    wdl = chess.engine.Cp(centipawns(value)).wdl(model="lichess")
    assert wdl.expectation() == pytest.approx((1 + value) / 2, abs=2e-3)


@given(VALUES, VALUES)
def test_a_better_value_is_no_lower_score(one, other):
    low, high = sorted((one, other))
    assert -10_000 <= centipawns(low) <= centipawns(high) <= 10_000
    assert centipawns(-low) == -centipawns(low)


@given(VALUES)
def test_games_add_up_to_the_value(value):
    wins, draws, losses = permille(value)
    assert min(wins, draws, losses) >= 0
    assert wins + draws + losses == 1000
    assert (wins - losses) / 1000 == pytest.approx(value, abs=2e-3)


def test_mate_is_the_best_score():
    assert (centipawns(1.0), permille(1.0)) == (10_000, (1000, 0, 0))
    assert (centipawns(-1.0), permille(-1.0)) == (-10_000, (0, 0, 1000))
