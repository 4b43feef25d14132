"""Cores, caches, vectors and clocks, as the system reports them."""

import dataclasses
import os
from pathlib import Path

import pandas as pd

from rungs.devel import cpu_quota
from rungs.machine import cpu_features, cpu_name, describe, usable_cores

_CPU0 = Path("/sys/devices/system/cpu/cpu0")

# The widest vectors that an instruction set's name stands for, in bits.
_SIMD_BITS = (("avx512f", 512), ("avx", 256), ("sse2", 128), ("asimd", 128))

# Files that say what a `Cache` is, in the order of its attributes.
_OF_CACHE = ("level", "size", "ways_of_associativity", "coherency_line_size", "shared_cpu_list")


@dataclasses.dataclass(frozen=True)
class Cache:
    """A cache that holds data."""

    level: int  # 1, 2, ...
    bytes: int  # size
    ways: int  # associativity
    line: int  # bytes of a cache line
    cores: int  # that share it


def caches(cpu: Path = _CPU0) -> list[Cache]:
    """Returns the first core's data caches that the system fully describes, nearest first."""
    data_caches = []
    for folder in sorted((cpu / "cache").glob("index*")):
        if _text(folder / "type") == "Instruction":
            continue
        texts = [text for name in _OF_CACHE if (text := _text(folder / name))]
        if len(texts) < len(_OF_CACHE):  # as where firmware doesn't report them
            continue
        level, size, ways, line, shared = texts
        data_caches.append(
            Cache(
                level=int(level),
                bytes=int(size.removesuffix("K")) * 1024,
                ways=int(ways),
                line=int(line),
                cores=_count(shared),
            )
        )
    return sorted(data_caches, key=lambda cache: cache.level)


def simd_bits() -> int | None:
    """Returns the width of the widest vectors; None where the system does not report it."""
    features = cpu_features().split()
    return next((bits for name, bits in _SIMD_BITS if name in features), None)


def topology(cpu: Path = _CPU0) -> pd.DataFrame:
    """Returns a row per fact of the processor: `fact`, `value` (text; "unknown" where it is not
    reported), `source`.
    """
    machine = describe()
    virtual = {True: "yes", False: "no", None: "unknown"}[machine["virtual"]]
    rows = [
        ("processor", cpu_name(), "/proc/cpuinfo"),
        ("cores", os.cpu_count(), "the system"),
        ("cores this process may use", usable_cores(), "affinity and control groups"),
        ("cgroup quota, cores", cpu_quota() or "none", "/proc/self/cgroup, /sys/fs/cgroup"),
        ("threads per core", _threads_per_core(cpu), str(cpu / "topology")),
        ("SIMD width, bits", simd_bits(), "/proc/cpuinfo, flags"),
        ("clock governor", _text(cpu / "cpufreq/scaling_governor"), str(cpu / "cpufreq")),
        ("virtual machine", virtual, "/proc/cpuinfo, flag hypervisor"),
        ("memory, GiB", round(machine["memory_bytes"] / 2**30, 1), "the system"),
    ]
    for cache in caches(cpu):
        size = f"{cache.bytes // 1024} KiB, {cache.ways} ways, for {cache.cores} core(s)"
        rows.append((f"L{cache.level} cache for data", size, str(cpu / "cache")))
    texts = [(fact, "unknown" if value is None else str(value), by) for fact, value, by in rows]
    return pd.DataFrame(texts, columns=["fact", "value", "source"])


def _threads_per_core(cpu: Path) -> int | None:
    siblings = _text(cpu / "topology/thread_siblings_list")
    return _count(siblings) if siblings else None


def _text(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None


def _count(cpu_list: str) -> int:
    """Returns how many cores are in a list such as "0-3,8"."""
    ends = [part.split("-") for part in cpu_list.split(",")]
    return sum(int(end[-1]) - int(end[0]) + 1 for end in ends)
