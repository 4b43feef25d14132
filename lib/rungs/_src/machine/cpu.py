"""The processor, as the system describes it."""

import functools
import os
import platform
import sys
import warnings
from pathlib import Path
from types import FrameType

from rungs.errors import OversubscriptionWarning

# Of the control group this process sees as the root, as in a container.
CPU_QUOTA = Path("/sys/fs/cgroup/cpu.max")


@functools.cache
def _cpuinfo() -> dict[str, str]:
    """Returns the first processor of /proc/cpuinfo; empty where the system has none."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return {}
    lines = (line.partition(":") for line in text.split("\n\n")[0].splitlines())
    return {key.strip(): value.strip() for key, _, value in lines}


def cpu_name() -> str:
    """Returns the processor's name."""
    return _cpuinfo().get("model name") or platform.processor() or platform.machine()


def cpu_identity() -> dict[str, str | int | None]:
    """Returns what tells one processor from another, even where both go by the same name.

    Returns:
        `cpu_vendor`, `cpu_family`, `cpu_model`, `cpu_stepping`, as CPUID has them; None where the
        system doesn't say, as on ARM.
    """
    told = _cpuinfo()
    numbers = {"cpu_family": "cpu family", "cpu_model": "model", "cpu_stepping": "stepping"}
    return {"cpu_vendor": told.get("vendor_id")} | {
        name: int(told[key]) if told.get(key, "").isdecimal() else None
        for name, key in numbers.items()
    }


def cpu_features() -> str:
    """Returns the processor's instruction sets: code made for one may not run on another.

    Empty where the system doesn't say, as only Linux does.
    """
    return _cpuinfo().get("flags") or _cpuinfo().get("Features", "")


def usable_cores() -> int:
    """Counts the cores this process may run on: its affinity mask, cut to the group's quota."""
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:  # the system keeps no process from a core
        cores = os.cpu_count() or 1
    try:
        quota, period = CPU_QUOTA.read_text().split()
    except OSError:
        return cores
    return cores if quota == "max" else max(1, min(cores, int(quota) // int(period)))


@functools.cache
def warn_of_oversubscription(what: str, number: int) -> None:
    """Warns, once per process, where `number` threads or processes are more than usable cores."""
    cores = usable_cores()
    if number > cores:
        text = f"{number} {what} on {cores} cores"
        warnings.warn(text, OversubscriptionWarning, stacklevel=_callers_level())


def _callers_level() -> int:
    """Returns the `stacklevel` of whoever called us from outside the package."""
    level = 2
    frame: FrameType | None = sys._getframe(2)
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] == "rungs":
        level, frame = level + 1, frame.f_back
    return level
