"""Notebook 16: ways to search, and a tree as it grows."""

import pandas as pd
import pytest

from rungs._src.search.result import Result
from rungs._src.search.search import uniform
from rungs.errors import MismatchError
from rungs_course.notebooks import nb16_search as nb16

MATE_IN_TWO = "7k/8/5K2/8/8/8/8/R7 w - - 0 1"
SIMULATIONS = 700


def test_ways_that_find_something_else_are_not_timed(monkeypatch):
    expected, other = Result.empty(2), Result.empty(2)
    other.chosen[:] = 1
    results = iter([expected, other])
    monkeypatch.setattr(nb16.Search, "run", lambda search, evaluate: next(results))
    with pytest.raises(MismatchError, match="threads: chosen"):
        nb16.check_ways({"C++": {"threads": 1}, "threads": {}}, seed=0, simulations=4)


@pytest.fixture(scope="module")
def tables():
    return nb16.grow(MATE_IN_TWO, uniform, SIMULATIONS)


def test_visits_grow_to_the_number_of_simulations(tables):
    moves, _ = tables
    for simulation, rows in moves.groupby("simulation"):
        rows = rows.drop_duplicates("move", keep="last")
        assert rows["visits"].sum() == simulation
        assert rows["prior"].sum() == pytest.approx(1)
    assert moves["simulation"].max() == SIMULATIONS


def test_nodes_hang_together_and_a_longer_search_goes_on_from_a_shorter_one(tables):
    _, nodes = tables
    assert nodes["parent"].iloc[0] == -1
    below = nodes.iloc[1:]
    assert (below["parent"] < below.index).all()
    assert (below["depth"] == nodes["depth"].iloc[below["parent"]].to_numpy() + 1).all()
    _, shorter = nb16.grow(MATE_IN_TWO, uniform, 50)
    names, made = ["parent", "move", "depth"], nodes.head(len(shorter))
    pd.testing.assert_frame_equal(shorter[names], made[names])
    assert (made["visits"] >= shorter["visits"]).all()


def test_the_mate_is_a_win_for_who_is_to_move_at_the_root(tables):
    moves, nodes = tables
    mates = nodes[nodes["end"] == "checkmate"]
    assert len(mates)
    assert (mates["value"] == 1).all()
    assert mates["move"].str.endswith("#").all()
    last = moves[moves["simulation"] == SIMULATIONS].set_index("move")
    assert last["visits"].idxmax() in ("Kg6", "Kf7")


def test_the_lead_begins_after_another_moves_last():
    columns = {"move": [*"aaaaabbbbb"], "visits": [1, 1, 2, 2, 3, 0, 1, 1, 3, 9]}
    grown = pd.DataFrame({"simulation": [1, 2, 3, 5, 12] * 2} | columns)
    assert nb16.leads_since(grown) == 4


def test_a_price_is_work_over_its_rate():
    bill = nb16.price({"slow": 10.0, "fast": 1e3}, 50.0, simulations=3.6e7, positions=3.6e5)
    assert bill["hours"].tolist() == [1000, 10, 2]
