"""The processor, as the system describes it."""

import contextlib
import functools
import os
import platform
import sys
import warnings
from pathlib import Path
from types import FrameType

from rungs.errors import OversubscriptionWarning

# Where control groups are, as a container's process sees them, and which this process is in.
_GROUPS = Path("/sys/fs/cgroup")
_OWN_GROUPS = Path("/proc/self/cgroup")


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
    """Returns vendor, family, model and stepping of CPUID; None where there is none, as on ARM."""
    info = _cpuinfo()
    numbers = {"cpu_family": "cpu family", "cpu_model": "model", "cpu_stepping": "stepping"}
    return {"cpu_vendor": info.get("vendor_id")} | {
        name: int(info[key]) if info.get(key, "").isdecimal() else None
        for name, key in numbers.items()
    }


def cpu_features() -> str:
    """Returns the names of the processor's instruction sets; "" where the system is not Linux."""
    return _cpuinfo().get("flags") or _cpuinfo().get("Features", "")


def usable_cores() -> int:
    """Returns the number of cores this process may use, by affinity and control group."""
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:  # the system keeps no process from a core
        cores = os.cpu_count() or 1
    return max(1, min(cores, int(cpu_quota() or cores)))


def cpu_quota() -> float | None:
    """Returns how many cores' time control groups allow, of version 1 or 2; None: no limit."""
    groups = [(_GROUPS, ""), (_GROUPS / "cpu", "")]
    with contextlib.suppress(OSError):
        for line in _OWN_GROUPS.read_text().splitlines():
            _, controllers, group = line.split(":", 2)  # "0::/a/b", or "4:cpu,cpuacct:/a/b"
            if "cpu" in controllers.split(","):
                groups.append((_GROUPS / "cpu", group))
            elif not controllers:
                groups.append((_GROUPS, group))
    folders = {
        folder
        for mount, group in groups
        for folder in (mount / group.strip("/"), *(mount / group.strip("/")).parents)
        if folder.is_relative_to(mount)
    }
    return min(filter(None, map(_quota, folders)), default=None)


def _quota(folder: Path) -> float | None:
    with contextlib.suppress(OSError, ValueError, ZeroDivisionError):
        quota, period = (folder / "cpu.max").read_text().split()
        return None if quota == "max" else int(quota) / int(period)
    with contextlib.suppress(OSError, ValueError, ZeroDivisionError):
        quota_file, period_file = (folder / f"cpu.cfs_{name}_us" for name in ("quota", "period"))
        limit = int(quota_file.read_text()) / int(period_file.read_text())
        return limit if limit > 0 else None
    return None


@functools.cache
def warn_of_oversubscription(kind: str, number: int) -> None:
    """Warns, once per process, where `number` threads or processes exceed the usable cores."""
    cores = usable_cores()
    if number > cores:
        text = f"{number} {kind} on {cores} cores"
        warnings.warn(text, OversubscriptionWarning, stacklevel=callers_level())


def callers_level() -> int:
    """Returns the `stacklevel` of the caller outside the package, for the function that warns."""
    level = 2
    frame: FrameType | None = sys._getframe(2)
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] == "rungs":
        level, frame = level + 1, frame.f_back
    return level
