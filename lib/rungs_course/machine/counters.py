"""Reads hardware counters with PAPI, and does not merely list them.

A virtual machine may list counters that can't be read; so reading one is the test of whether there
are any. Only the calling thread is counted.
"""

import ctypes
import ctypes.util
import functools
import os
import re
from collections.abc import Callable, Sequence

from rungs.devel import run_program
from rungs.errors import UnavailableError

# PAPI's names, by ours.
EVENTS = {
    "instructions": "PAPI_TOT_INS",
    "cycles": "PAPI_TOT_CYC",
    "loads": "PAPI_LD_INS",
    "stores": "PAPI_SR_INS",
    "L1 misses": "PAPI_L1_DCM",
    "L2 misses": "PAPI_L2_DCM",
    "L3 misses": "PAPI_L3_TCM",
    "branches": "PAPI_BR_INS",
    "mispredicted branches": "PAPI_BR_MSP",
}

# perf's names, for Intel and AMD, of where the issue slots of a core's front end went.
_TOP_DOWN = ("TopdownL1", "PipelineL1")

_PERF_HEADING = "Performance counter stats"  # with the program's path
_PERF_SECONDS = 3600.0  # for the program that it counts

_NULL = -1  # PAPI_NULL, no event set


def count(work: Callable[[], object], events: dict[str, str] = EVENTS) -> dict[str, int]:
    """Reads hardware counters while `work` runs, once for each event, as a processor can't count
    all at once; `work` must do the same each time.

    `events` maps our names to PAPI's; returns a number by our name, without events that this
    processor doesn't count.
    """
    papi = _papi()
    counts, reasons = {}, []
    for name, event in events.items():
        try:
            number = _count_one(papi, event, work)
        except _NotCountedError as error:
            reasons.append(f"{event}: {error}")
            continue
        # A counter without hardware reads 0, and each of our events does happen.
        if number:
            counts[name] = number
        else:
            reasons.append(f"{event}: it stays at 0")
    if not counts:
        raise UnavailableError(f"no hardware counters: {reasons[0]}")
    return counts


def top_down(command: Sequence[str]) -> str:
    """Returns perf's table of where a core's slots went while a program ran (top-down method, level
    1).
    """
    said = ""
    for metric in _TOP_DOWN:
        done = run_program(
            ["perf", "stat", "--metrics", metric, "--", *command],
            _PERF_SECONDS,
            install="apt-get install linux-perf",
            env=os.environ | {"LC_ALL": "C"},
        )
        refused = done.returncode or "<not" in done.stderr or "Cannot find" in done.stderr
        if not refused and "%" in done.stderr:
            return done.stderr.strip()
        lines = [line.strip() for line in done.stderr.splitlines()]
        lines = [line for line in lines if line and not line.startswith(_PERF_HEADING)]
        said = said or next(iter(lines), "nothing")
    raise UnavailableError(f"perf has no top-down counts here; it printed: {said}")


def _count_one(papi: ctypes.CDLL, event: str, work: Callable[[], object]) -> int:
    events, value = ctypes.c_int(_NULL), ctypes.c_longlong()
    _check(papi, papi.PAPI_create_eventset(ctypes.byref(events)))
    try:
        _check(papi, papi.PAPI_add_named_event(events, event.encode()))
        _check(papi, papi.PAPI_start(events))
        try:
            work()
        finally:
            _check(papi, papi.PAPI_stop(events, ctypes.byref(value)))
        return value.value
    finally:
        papi.PAPI_cleanup_eventset(events)
        papi.PAPI_destroy_eventset(ctypes.byref(events))


@functools.cache
def _papi() -> ctypes.CDLL:
    """Starts the system's PAPI: being as new as the system, it knows the newer processors."""
    name = ctypes.util.find_library("papi")
    if not name:
        raise UnavailableError("no PAPI: apt-get install papi-tools")
    papi = ctypes.CDLL(name)
    papi.PAPI_strerror.restype = ctypes.c_char_p
    # PAPI requires the version that its caller was compiled for, which is in its file's name.
    suffix = re.search(r"\.so\.(\d+)\.(\d+)", name)
    if not suffix:
        raise UnavailableError(f"{name} has no version in its name")
    version = int(suffix[1]) << 24 | int(suffix[2]) << 16
    if (started := papi.PAPI_library_init(version)) != version:
        raise UnavailableError(f"{name} does not start: {_reason(papi, started)}")
    return papi


def _check(papi: ctypes.CDLL, code: int) -> None:
    if code < 0:
        raise _NotCountedError(_reason(papi, code))


def _reason(papi: ctypes.CDLL, code: int) -> str:
    return (papi.PAPI_strerror(code) or b"unknown").decode()


class _NotCountedError(Exception):
    """PAPI rejects an event; the message says why."""
