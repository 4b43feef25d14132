"""Counters are believed when they have been read, and only then."""

import ctypes.util
from unittest import mock

import pytest

from rungs.errors import UnavailableError
from rungs_course.machine import counters

needs_papi = pytest.mark.skipif(
    not ctypes.util.find_library("papi"), reason="no PAPI: apt-get install papi-tools"
)


def work():
    return sum(range(100_000))


@needs_papi
def test_reading_an_event_that_every_kernel_counts():
    # The time that the process has run, in nanoseconds, which needs no hardware.
    try:
        counted = counters.count(work, {"time": "perf::TASK-CLOCK"})
    except UnavailableError as error:
        pytest.skip(str(error))
    assert 10_000 < counted["time"] < 10_000_000_000


@needs_papi
def test_counters_are_read_or_refused_with_the_reason():
    reason = ""
    try:
        counted = counters.count(work)
    except UnavailableError as error:
        counted, reason = {}, str(error)
    assert bool(counted) != ("PAPI_TOT_INS: " in reason)
    assert counted.get("instructions", 100_001) > 100_000


def test_without_papi_how_to_get_it(monkeypatch):
    counters._papi.cache_clear()
    monkeypatch.setattr(ctypes.util, "find_library", lambda name: None)
    with pytest.raises(UnavailableError, match="papi-tools"):
        counters.count(work)


def test_a_papi_without_a_version_is_named(monkeypatch):
    counters._papi.cache_clear()
    monkeypatch.setattr(ctypes.util, "find_library", lambda name: "libpapi.so.7")
    monkeypatch.setattr(ctypes, "CDLL", lambda name: mock.MagicMock())
    with pytest.raises(UnavailableError, match=r"libpapi.so.7 has no version in its name"):
        counters.count(work)


def test_a_counter_that_stays_at_0_is_not_believed(monkeypatch):
    numbers = {"PAPI_TOT_INS": 5, "PAPI_TOT_CYC": 0}
    monkeypatch.setattr(counters, "_papi", lambda: None)
    monkeypatch.setattr(counters, "_count_one", lambda papi, event, work: numbers[event])
    events = {"instructions": "PAPI_TOT_INS", "cycles": "PAPI_TOT_CYC"}
    assert counters.count(work, events) == {"instructions": 5}
    with pytest.raises(UnavailableError, match="PAPI_TOT_CYC: it stays at 0"):
        counters.count(work, {"cycles": "PAPI_TOT_CYC"})
