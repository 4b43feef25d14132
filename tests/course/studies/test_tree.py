"""The tree of one search as it grew: counts add up, values are the mover's, and mates are exact."""

import pytest

from rungs._src.search.evaluators import uniform
from rungs_course.nb16_search import grow

MATE_IN_TWO = "7k/8/5K2/8/8/8/8/R7 w - - 0 1"
SIMULATIONS = 700


@pytest.fixture(scope="module")
def tables():
    return grow(MATE_IN_TWO, uniform, SIMULATIONS)


def test_visits_grow_to_the_number_of_simulations(tables):
    grown, _ = tables
    for simulation, rows in grown.groupby("simulation"):
        rows = rows.drop_duplicates("move", keep="last")
        assert rows["visits"].sum() == simulation
        assert rows["prior"].sum() == pytest.approx(1)
    assert grown["simulation"].max() == SIMULATIONS
    assert grown["simulation"].is_monotonic_increasing


def test_nodes_hang_together(tables):
    _, nodes = tables
    assert nodes["parent"].iloc[0] == -1
    below = nodes.iloc[1:]
    assert (below["parent"] < below.index).all()
    assert (below["depth"] == nodes["depth"].iloc[below["parent"]].to_numpy() + 1).all()
    assert nodes["value"].between(-1, 1).all()


def test_the_mate_is_found_and_worth_a_win_for_who_is_to_move_at_the_root(tables):
    grown, nodes = tables
    mates = nodes[nodes["end"] == "checkmate"]
    assert len(mates)
    assert (mates["value"] == 1).all()
    assert mates["move"].str.endswith("#").all()
    last = grown[grown["simulation"] == SIMULATIONS].set_index("move")
    assert last["visits"].idxmax() in ("Kg6", "Kf7")
