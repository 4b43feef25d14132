"""Whose time the processor's is."""

import pytest

from rungs_course.machine import busy


@pytest.fixture
def stat(tmp_path, monkeypatch):
    """A system whose counts are ours."""
    path = tmp_path / "stat"
    monkeypatch.setattr(busy, "STAT", path)

    def write(user, idle, stolen):
        path.write_text(f"cpu  {user} 0 0 {idle} 0 0 0 {stolen} 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n")

    return write


def test_times_are_busy_stolen_or_idle(stat):
    stat(60, 30, 10)
    assert busy.cpu_times() == busy.CpuTimes(60, 10, 100)


def test_stolen_is_a_share_of_all_time(stat):
    stat(60, 30, 10)
    before = busy.cpu_times()
    assert busy.stolen_since(before) is None  # no time has passed
    stat(100, 75, 25)
    assert busy.stolen_since(before) == pytest.approx(0.15)


def test_busy_is_what_runs_while_we_sleep(stat, monkeypatch):
    stat(60, 30, 10)
    monkeypatch.setattr(busy.time, "sleep", lambda seconds: stat(75, 110, 15))
    assert busy.busy_for(0.2) == pytest.approx(0.2)


def test_where_the_system_tells_nothing_neither_do_we(stat):
    assert busy.cpu_times() is None
    assert busy.stolen_since(None) is None
    assert busy.busy_for(0) is None
