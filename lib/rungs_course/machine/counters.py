"""Reads hardware counters with PAPI, and does not merely list them.

A virtual machine may list counters that can't be read; so reading one is the test of whether there
are any. Only the calling thread is counted.
"""

import ctypes
import ctypes.util
import functools
import re
from collections.abc import Callable

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

_NULL = -1  # PAPI_NULL, no event set
# What counts; a negative result is an error.
_CHECKED = ("PAPI_create_eventset", "PAPI_add_named_event", "PAPI_start", "PAPI_stop")


def count(work: Callable[[], object], events: dict[str, str] = EVENTS) -> dict[str, int]:
    """Reads hardware counters while `work` runs, once for each event, as a processor can't count
    all at once; `work` must do the same each time.

    `events` maps our names to PAPI's; returns a number by our name, without events that this
    processor doesn't count.
    """
    papi = library()
    counts, reasons = {}, []
    for name, event in events.items():
        try:
            number = _count_one(papi, event, work)
        except UnavailableError as error:
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


def _count_one(papi: ctypes.CDLL, event: str, work: Callable[[], object]) -> int:
    events, value = ctypes.c_int(_NULL), ctypes.c_longlong()
    papi.PAPI_create_eventset(ctypes.byref(events))
    try:
        papi.PAPI_add_named_event(events, event.encode())
        papi.PAPI_start(events)
        try:
            work()
        finally:
            papi.PAPI_stop(events, ctypes.byref(value))
        return value.value
    finally:
        papi.PAPI_cleanup_eventset(events)
        papi.PAPI_destroy_eventset(ctypes.byref(events))


@functools.cache
def library() -> ctypes.CDLL:
    """Starts the system's PAPI, which knows the processors that the system knows.

    Returns its functions; those that count raise `UnavailableError` where PAPI refuses.
    """
    name = ctypes.util.find_library("papi")
    if not name:
        raise UnavailableError("no PAPI: apt-get install papi-tools")
    papi = ctypes.CDLL(name)
    papi.PAPI_strerror.restype = ctypes.c_char_p

    def reason(code: int) -> str:
        return (papi.PAPI_strerror(code) or b"unknown").decode()

    def checked(code: int, function, arguments) -> int:
        if code < 0:
            raise UnavailableError(reason(code))
        return code

    for function in _CHECKED:
        getattr(papi, function).errcheck = checked
    # PAPI requires the version that its caller was compiled for, which is in its file's name.
    suffix = re.search(r"\.so\.(\d+)\.(\d+)", name)
    if not suffix:
        raise UnavailableError(f"{name} has no version in its name")
    version = int(suffix[1]) << 24 | int(suffix[2]) << 16
    if (started := papi.PAPI_library_init(version)) != version:
        raise UnavailableError(f"{name} does not start: {reason(started)}")
    return papi
