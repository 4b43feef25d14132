"""Hardware counters, by PAPI, read and not merely listed.

A virtual machine may list counters that can't be read; so whether there are any is found out by
reading one. Counted is the calling thread.
"""

import ctypes
import ctypes.util
import functools
import os
import re
import subprocess
from collections.abc import Callable, Sequence

from rungs.errors import UnavailableError

# What is counted, and PAPI's name for it.
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

# Where the slots of a core's front went, by what Intel and AMD have perf call it.
_TOP_DOWN = ("TopdownL1", "PipelineL1")

_NULL = -1  # PAPI_NULL, no event set


def count(work: Callable[[], object], events: dict[str, str] = EVENTS) -> dict[str, int]:
    """Reads a hardware counter while `work` runs, in a run of its own for each event.

    A processor can't count everything at once.

    Args:
        work: what to count; it must do the same each time it is called.
        events: PAPI's names, by ours.

    Returns:
        A number by each of our names; events that this processor doesn't count are left out.

    Raises:
        UnavailableError: there is no PAPI, or it counts none of the events here; with the reason.
    """
    papi = _papi()
    counts, reasons = {}, []
    for name, event in events.items():
        try:
            number = _count_one(papi, event, work)
        except _NotCountedError as error:
            reasons.append(f"{event}: {error}")
            continue
        # A counter without hardware reads 0, and nothing that we count never happens.
        if number:
            counts[name] = number
        else:
            reasons.append(f"{event}: it stays at 0")
    if not counts:
        raise UnavailableError(f"no hardware counters: {reasons[0]}")
    return counts


def top_down(command: Sequence[str]) -> str:
    """Asks perf where the slots of a core went while a program ran: the top-down method's level 1.

    Args:
        command: the program and its arguments.

    Returns:
        The table as perf prints it.

    Raises:
        UnavailableError: there is no perf, or it counts no such thing here; with what it said.
    """
    said = ""
    for metric in _TOP_DOWN:
        try:
            done = subprocess.run(
                ["perf", "stat", "--metrics", metric, "--", *command],
                capture_output=True,
                text=True,
                env=os.environ | {"LC_ALL": "C"},
            )
        except FileNotFoundError:
            raise UnavailableError("no perf: apt-get install linux-perf") from None
        refused = done.returncode or "<not" in done.stderr or "Cannot find" in done.stderr
        if not refused and "%" in done.stderr:
            return done.stderr.strip()
        said = said or next((line for line in done.stderr.splitlines() if line.strip()), "nothing")
    raise UnavailableError(f"perf has no top-down counts here; it says: {said.strip()}")


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
    """Starts the system's PAPI: one that is as new as the system knows the newer processors."""
    name = ctypes.util.find_library("papi")
    if not name:
        raise UnavailableError("no PAPI: apt-get install papi-tools")
    papi = ctypes.CDLL(name)
    papi.PAPI_strerror.restype = ctypes.c_char_p
    # PAPI asks for the version that its caller was compiled for; its file's name has it.
    found = re.search(r"\.so\.(\d+)\.(\d+)", name)
    if not found:
        raise UnavailableError(f"{name} has no version in its name")
    version = int(found[1]) << 24 | int(found[2]) << 16
    if (started := papi.PAPI_library_init(version)) != version:
        raise UnavailableError(f"{name} does not start: {_reason(papi, started)}")
    return papi


def _check(papi: ctypes.CDLL, code: int) -> None:
    if code < 0:
        raise _NotCountedError(_reason(papi, code))


def _reason(papi: ctypes.CDLL, code: int) -> str:
    return (papi.PAPI_strerror(code) or b"unknown").decode()


class _NotCountedError(Exception):
    """PAPI refuses an event; the message says why."""
