"""How many environments a machine allows where each has a process of its own."""

import os
import resource
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from rungs._src.machine.describe import describe
from rungs._src.processes.workers import Workers

_PROCESSES = 2  # started to be looked at


def process_limits(make: Callable, *arguments) -> pd.DataFrame:
    """Starts some processes, and reckons what one of them takes of what there is.

    Args:
        make: makes what a process holds.
        *arguments: of `make`.

    Returns:
        A row per resource: `resource`; `each`, what a process takes of it; `limit`, what there is;
        and `environments`, how many processes that is.
    """
    before = open_files()
    workers = Workers(make, [arguments] * _PROCESSES)
    files = (open_files() - before) / _PROCESSES
    memory = sum(map(own_bytes, workers.pids)) / _PROCESSES
    workers.close()
    rows = [
        ("open files of the parent", files, resource.getrlimit(resource.RLIMIT_NOFILE)[0]),
        ("processes of a user", 1, resource.getrlimit(resource.RLIMIT_NPROC)[0]),
        ("memory, bytes", memory, describe()["memory_bytes"]),
    ]
    table = pd.DataFrame(rows, columns=["resource", "each", "limit"])
    unlimited = table["limit"] == resource.RLIM_INFINITY
    table["environments"] = (table["limit"] // table["each"]).where(~unlimited)
    return table


def open_files() -> int:
    """Returns how many files, pipes among them, this process has open."""
    return len(os.listdir("/proc/self/fd"))


def own_bytes(pid: int) -> int:
    """Returns the memory that a process shares with no other."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith("Private"))
