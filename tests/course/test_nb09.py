"""Notebook 09: the study's table 1, whose digits are found again; counts, and a hot loop's code."""

import re
import shutil

import numpy as np
import pandas as pd
import pytest

from rungs.errors import UnavailableError
from rungs_course.machine import roofline
from rungs_course.machine.topology import Cache
from rungs_course.measure import machine_code, results
from rungs_course.notebooks import nb09_counters, nb09_hot_loop
from rungs_course.paths import ROOT
from tests.course.notebooks import from_page


def test_the_studys_numbers_are_computed_anew():
    rows = results.load(ROOT / "data" / "paper" / "chess_papi.csv")
    table = rows.set_index("counter")["value"]
    points = roofline.points(table)
    drawn = points.query("per == 'access, as drawn'")
    assert drawn["intensity"].iloc[0] == pytest.approx(table["operational intensity"], 1e-5)
    assert drawn["performance"].tolist() == pytest.approx([16.91084e9, 29.7934e9])
    missed = points.query("per == 'byte missing in L1'")["intensity"].iloc[0]
    numbers = (roofline.seconds(table), roofline.memory_rate(table, "sequential"), missed)
    assert numbers == pytest.approx((3.567, 0.2513e9, 67.29), rel=1e-3)


def test_a_chain_visits_every_line_before_it_begins_again():
    lines = from_page("09_counters")["chain"](64 * 50, np.random.default_rng(0))
    at, visited = 0, []
    for _ in lines:
        visited.append(at // 64)
        at = int(lines[at // 64, 0])
    assert at == 0
    assert sorted(visited) == list(range(50))
    assert visited != sorted(visited)
    assert lines.ctypes.data % 64 == 0


CACHES = [Cache(1, 2**15, 8, 64, 1), Cache(2, 2**19, 8, 64, 1), Cache(3, 2**23, 16, 64, 2)]


def curve(*nanoseconds):
    """Returns a latency curve over 4 KiB, 8 KiB, ..."""
    rows = [(2**power, "4 KiB", 0, ns * 1e-9) for power, ns in enumerate(nanoseconds, 12)]
    return pd.DataFrame(rows, columns=["bytes", "pages", "repeat", "seconds"])


@pytest.mark.parametrize(
    ("nanoseconds", "levels", "capacities"),
    [
        # A virtual machine without a part of L3: one step after L2.
        ([1, 1, 1, 1, 4, 4, 4, 5, 30, 100, 110, 120], ["L1", "L2", "beyond L2"], [32, 512]),
        # A machine of its own; below, its largest set is twice the last cache.
        ([1, 1, 1, 1, 4, 4, 4, 4, 15, 15, 90, 95], ["L1", "L2", "L3", "beyond L3"], [32, 512]),
        ([1, 1, 1, 1, 4, 4, 4, 4, 15, 15, 90, 95, 95], ["L1", "L2", "L3", "memory"], [32, 512]),
        # A disturbed curve, where L2 has no plateau.
        ([1, 1, 1, 1, 2, 3, 5, 9, 16, 30, 30, 60, 60], ["L1", "L3", "memory"], [32, 4096]),
        ([1, 1, 1], ["L1"], [16]),
    ],
)
def test_capacities_follow_from_the_plateaus_of_a_curve(nanoseconds, levels, capacities):
    plateaus = nb09_counters.plateaus(curve(*nanoseconds), CACHES)
    assert plateaus["level"].tolist() == levels
    assert plateaus["to KiB"].tolist()[: len(capacities)] == capacities
    assert plateaus["reported KiB"].iloc[0] == 32


def test_working_sets_end_at_twice_the_last_cache_where_memory_allows(monkeypatch):
    monkeypatch.setattr(nb09_counters, "describe", lambda: {"memory_bytes": 2**40})
    assert nb09_counters.working_sets(2**30, CACHES) == [2**power for power in range(12, 25)]
    assert nb09_counters.working_sets(2**14, CACHES) == [2**12, 2**13, 2**14]
    monkeypatch.setattr(nb09_counters, "describe", lambda: {"memory_bytes": 2**20})
    assert max(nb09_counters.working_sets(2**30, CACHES)) == 2**17


@pytest.fixture
def library():
    if not shutil.which("objdump"):
        pytest.skip("objdump is not installed")
    try:
        return nb09_hot_loop.build("written for AVX2")
    except UnavailableError as error:
        pytest.skip(str(error))


def test_the_loop_over_boards_within_that_over_turns_is_read_from_the_binary(library, monkeypatch):
    loop = nb09_hot_loop.loop("written for AVX2")
    assert loop["instruction"].str.startswith("j").tolist() == [False] * (len(loop) - 1) + [True]
    assert set(loop["meaning"]) >= {"load", "store", "shift by 18: 2 north-east"}
    assert nb09_hot_loop.boards_at_once(loop) == 4
    monkeypatch.setenv("PATH", str(library.parent))
    with pytest.raises(UnavailableError, match="binutils"):
        machine_code.loop(library, "fills")


@pytest.mark.needs("llvm-mca")
def test_ports_are_simulated(library):
    loop = machine_code.loop(library, "fills")
    cycles, _, waits = machine_code.ports(loop, "skylake-avx512")
    twice, *_ = machine_code.ports(pd.concat([loop[:-1], loop]), "skylake-avx512")
    assert 1 < cycles < twice
    assert re.fullmatch(r"(ports|dependencies|loads and stores), [1-9]\d?%", waits)
    with pytest.raises(UnavailableError, match="llvm-mca"):
        machine_code.ports(loop.assign(instruction="nonsense"), "skylake-avx512")
