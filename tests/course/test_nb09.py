"""Notebook 09: the study's table 1: its own digits are found again, and what follows from them."""

import pytest

from rungs_course import nb09_counters
from rungs_course.machine.roofline import PAPER, attainable
from rungs_course.measure import results
from rungs_course.paths import ROOT


@pytest.fixture
def table():
    return results.load(ROOT / "data" / "paper" / "chess_papi.csv").set_index("counter")["value"]


def test_the_studys_intensity_is_operations_by_access(table):
    drawn = nb09_counters.points(table).query("per == 'access, as drawn'")
    assert drawn["intensity"].tolist() == pytest.approx(2 * [table["operational intensity"]], 1e-5)
    assert drawn["performance"].tolist() == [16.91084e9, 29.7934e9]


def test_openmp_is_drawn_above_the_opterons_own_roof(table):
    drawn = nb09_counters.points(table).set_index(["per", "name"]).loc["access, as drawn", "OpenMP"]
    roofs = [
        attainable(drawn["intensity"], machine.peak_flops(64), machine.peak_bandwidth())
        for machine in PAPER
    ]
    assert roofs == pytest.approx([42.67e9, 28.45e9], rel=1e-3)
    assert roofs[1] < drawn["performance"] < roofs[0]


def test_hardly_anything_came_from_memory(table):
    assert nb09_counters.seconds(table) == pytest.approx(3.567, rel=1e-3)
    assert nb09_counters.memory_rate(table, "sequential") == pytest.approx(0.2513e9, rel=1e-3)
    missed = nb09_counters.points(table).query("per == 'byte missing in L1'")["intensity"]
    assert missed.iloc[0] == pytest.approx(67.29, rel=1e-3)


def test_no_core_has_the_clock_that_it_needs(table):
    assert nb09_counters.clock(table) == pytest.approx(29.7e9, rel=1e-2)
