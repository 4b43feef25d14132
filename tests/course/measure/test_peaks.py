"""Measured peaks obey what must hold on any machine."""

import pytest

from rungs.errors import CompilerError
from rungs_course import compiled
from rungs_course.measure.peaks import (
    COMPUTE,
    STREAMS,
    core_speed,
    measure_bandwidth,
    measure_compute,
    working_sets,
)


def test_a_cores_clock_and_operations_per_cycle_are_measured_once():
    speed = core_speed()
    # However busy the machine: a clock ticks in GHz, and a vector's lanes are counted twice at
    # least and 64 times at most.
    assert 100 < speed["clock_mhz"] < 10_000
    assert 2 < speed["flops_per_cycle"] < 128
    assert core_speed() is speed


def test_without_a_compiler_a_cores_speed_is_not_known(monkeypatch):
    def none():
        raise CompilerError("g++ is not installed")

    monkeypatch.setattr(compiled, "load_machine", none)
    assert core_speed.__wrapped__() == {"clock_mhz": None, "flops_per_cycle": None}


@pytest.fixture(scope="module")
def compute():
    frame = measure_compute([1, 2], repeats=15, seconds=0.005)
    return frame.groupby(["peak", "threads"])["per_second"].max()


def test_a_row_for_everything_measured(compute):
    assert set(compute.index) == {(peak, threads) for peak in COMPUTE for threads in (1, 2)}
    assert (compute > 0).all()


@pytest.mark.slow  # and only true where nothing else runs
def test_peaks_stand_in_the_proportions_that_vectors_give(compute):
    # Single precision has twice the lanes of double; vectors of integers beat single ones.
    assert 1.3 < compute["float32", 1] / compute["float64", 1] < 3
    assert compute["64-bit integers, vectors", 1] > compute["64-bit integers", 1]
    # A core does several independent operations per cycle of its clock, and a clock ticks in GHz.
    assert compute["64-bit integers", 1] > compute["clock", 1]
    assert 0.5e9 < compute["clock", 1] < 10e9


@pytest.fixture(scope="module")
def bandwidth():
    frame = measure_bandwidth([1], repeats=2, seconds=0.002)
    return frame.groupby(["level", "stream"])["per_second"].max()


def test_bandwidth_of_each_level_and_stream(bandwidth):
    assert set(bandwidth.index) == {(level, s) for level in working_sets(1) for s in STREAMS}
    assert (bandwidth > 0).all()


@pytest.mark.slow  # and only true where nothing else runs
def test_near_memory_is_read_faster_than_far(bandwidth):
    assert bandwidth["L1", "read"] > bandwidth["memory", "read"]
