"""What disturbs a measurement, as distinct from the measurement itself."""

import dataclasses
import os
import threading
import time

import pytest

from rungs_course.measure import disturbance
from rungs_course.measure.disturbance import CpuTimes, Usage, disturbances, usage

TICKS = os.sysconf("SC_CLK_TCK")
START = Usage(0.0, CpuTimes(0, 0, 0), 0.0, 0, {1: (0.0, 0), 2: (0.0, 1)})


def used(seconds=10.0, own=10.0, others=0.0, stolen=0.0, preempted=0, cores=(0, 1)):
    """Two threads have computed for half of the time each, on two cores, next to others."""
    ticks = [round(amount * TICKS) for amount in (own + others, stolen, 2 * seconds)]
    threads = {1: (seconds / 2, cores[0]), 2: (seconds / 2, cores[1])}
    return Usage(seconds, CpuTimes(*ticks), own, preempted, threads)


def test_a_program_does_not_disturb_itself():
    assert disturbances(START, used()) == {}
    assert disturbances(START, used(own=20.0)) == {}


@pytest.mark.parametrize(
    ("case", "word"),
    [
        (used(others=4.0), "other programs"),
        (used(stolen=1.0), "hypervisor"),
        (used(preempted=2500), "lost their core"),
        (used(cores=(1, 1)), "shared a core"),
    ],
)
def test_each_disturbance_is_named(case, word):
    (found,) = disturbances(START, case)
    assert word in found


def test_threads_that_share_cores_by_design_disturb_nothing():
    crowded = used(preempted=2500, cores=(1, 1))
    assert disturbances(START, crowded, threads_share_cores=True) == {}
    beside_others = used(others=4.0, preempted=2500)
    assert len(disturbances(START, beside_others, threads_share_cores=True)) == 1


def test_a_moment_tells_nothing():
    assert disturbances(START, used(seconds=0.1, own=0.0, others=0.2)) == {}


def test_a_system_without_counts_of_cores_tells_of_threads_only():
    unknown = dataclasses.replace(START, cores=None)
    case = dataclasses.replace(used(others=4.0, preempted=2500), cores=None)
    assert len(disturbances(unknown, case)) == 1


def test_usage_counts_this_process_and_its_threads():
    before, stop = usage(), threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    end = time.process_time() + 0.05
    while time.process_time() < end:
        pass
    after = usage()
    stop.set()
    thread.join()
    assert after.own > before.own
    assert len(after.threads) == len(before.threads) + 1
    assert max(seconds for seconds, _ in after.threads.values()) > 0


@pytest.fixture
def stat(tmp_path, monkeypatch):
    """A system whose counts are ours."""
    path = tmp_path / "stat"
    monkeypatch.setattr(disturbance, "STAT", path)

    def write(user, idle, stolen):
        path.write_text(f"cpu  {user} 0 0 {idle} 0 0 0 {stolen} 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n")

    return write


def test_times_are_busy_stolen_or_idle(stat):
    stat(60, 30, 10)
    assert disturbance.cpu_times() == CpuTimes(60, 10, 100)


def test_stolen_is_a_share_of_all_time(stat):
    stat(60, 30, 10)
    before = disturbance.cpu_times()
    assert disturbance.stolen_since(before) is None  # no time has passed
    stat(100, 75, 25)
    assert disturbance.stolen_since(before) == pytest.approx(0.15)


def test_busy_is_what_runs_while_we_sleep(stat, monkeypatch):
    stat(60, 30, 10)
    monkeypatch.setattr(disturbance.time, "sleep", lambda seconds: stat(75, 110, 15))
    assert disturbance.busy_for(0.2) == pytest.approx(0.2)


def test_where_the_system_tells_nothing_neither_do_we(stat):
    assert disturbance.cpu_times() is None
    assert disturbance.stolen_since(None) is None
    assert disturbance.busy_for(0) is None
