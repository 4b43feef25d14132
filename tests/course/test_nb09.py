"""Notebook 09: the study's table 1: its own digits are found again, and what follows from them."""

import numpy as np
import pytest

from rungs.errors import UnavailableError
from rungs_course import nb09_counters
from rungs_course.machine import counters
from rungs_course.machine.roofline import PAPER, attainable
from rungs_course.machine.topology import Cache
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


def test_a_chain_visits_every_line_before_it_begins_again():
    lines = nb09_counters.chain(64 * 50, np.random.default_rng(0))
    at, visited = 0, []
    for _ in lines:
        visited.append(at // 64)
        at = int(lines[at // 64, 0])
    assert at == 0
    assert sorted(visited) == list(range(50))
    assert visited != sorted(visited)
    assert lines.ctypes.data % 64 == 0


def test_a_set_stands_for_the_level_that_it_half_fills():
    caches = [Cache(1, 2**15, 8, 64, 1), Cache(2, 2**19, 8, 64, 1)]
    sizes = [2**power for power in range(12, 22)]
    expected = {"L1": 2**14, "L2": 2**18, "memory": 2**21}
    assert nb09_counters.served_by(sizes, caches) == expected
    assert nb09_counters.served_by([2**12, 2**13], caches) == {"L1": 2**13}


@pytest.mark.system
def test_loads_of_a_chain_are_timed_to_its_end():
    times = nb09_counters.chase([2**12, 2**20], loads=1000, repeats=3, seed=0)
    assert times.groupby("bytes").size().tolist() == [3, 3]
    assert (times["seconds"] > 0).all()


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        ("Cannot find metric or group `TopdownL1'", "Cannot find metric"),
        ("   <not supported>      cycles", "not supported"),
    ],
)
def test_top_down_is_perfs_own_table_or_a_reason(tmp_path, monkeypatch, printed, reason):
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    perf = tmp_path / "perf"
    perf.write_text("#!/bin/sh\necho '    12.3 %  retiring' >&2\n")
    perf.chmod(0o755)
    assert counters.top_down(["true"]) == "12.3 %  retiring"
    perf.write_text(f'#!/bin/sh\ncat >&2 <<"END"\n{printed}\n 5.0% of all branches\nEND\n')
    with pytest.raises(UnavailableError, match=reason):
        counters.top_down(["true"])
    perf.unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnavailableError, match="apt-get install linux-perf"):
        counters.top_down(["true"])
