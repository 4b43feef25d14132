"""The serial rung's step under valgrind: what it counts is exact, whatever else the machine does.

What runs is `cpp/course/bench_rung.cpp`, random self-play from the start of a game, compiled by g++
for processors with AVX2: valgrind 3.19 knows no AVX-512.
"""

import dataclasses
import re
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd

from rungs.chess import find_program
from rungs.devel import gpp, paths, temporary_dir
from rungs.machine import cpu_features, usable_cores
from rungs_course.machine.topology import Cache

MACHINE = "x86-64-v3"
FLAGS = ["-O3", f"-march={MACHINE}", "-std=c++20", "-g", "-fopenmp"]

# Our names of events, and callgrind's.
_EVENTS = {
    "instructions": ("Ir",),
    "loads": ("Dr",),
    "stores": ("Dw",),
    "L1 misses": ("D1mr", "D1mw"),
    "last-level misses": ("DLmr", "DLmw"),
    "branches": ("Bc", "Bi"),
    "mispredicted branches": ("Bcm", "Bim"),
}


def have_valgrind() -> bool:
    """Returns whether valgrind is installed, and the processor has what `MACHINE` needs."""
    return find_program("valgrind") is not None and "avx2" in cpu_features().split()


def together(count: Callable, runs: Iterable[tuple]) -> list:
    """Calls `count` with each of some arguments, on all cores at once: counts are not disturbed."""
    with ThreadPoolExecutor(usable_cores()) as threads:
        return list(threads.map(lambda run: count(*run), runs))


def callgrind(boards: int, steps: int, mask: str, *options: str) -> str:
    """Returns callgrind's report on `step` alone, in `steps` steps of all boards."""
    return callgrind_of("rungs_chess_serial_step", program(boards, steps, mask), *options)


def callgrind_of(function: str, command: list[str], *options: str) -> str:
    """Returns callgrind's report on one C function of a program, with what it calls."""
    with temporary_dir() as folder:
        report = Path(folder) / "report"
        gpp.run(
            [
                "valgrind",
                "--tool=callgrind",
                "--collect-atstart=no",
                f"--toggle-collect={function}",
                f"--callgrind-out-file={report}",
                *options,
                *command,
            ]
        )
        return report.read_text()


def simulated(cache: Cache) -> Cache:
    """Returns the cache as callgrind simulates it: with as many sets as the next lower power of 2.

    Its ways and lines stay; its size is smaller where it has another number of sets.
    """
    sets = cache.bytes // (cache.ways * cache.line)
    power_of_two = 1 << (sets.bit_length() - 1)
    return dataclasses.replace(cache, bytes=power_of_two * cache.ways * cache.line)


def counts_per_ply(boards: int, steps: int, mask: str, first: Cache, last: Cache) -> dict:
    """Counts instructions, memory accesses, branches, and the misses of two simulated caches, per
    ply.
    """
    caches = [
        f"--{name}={cache.bytes},{cache.ways},{cache.line}"
        for name, cache in (("D1", simulated(first)), ("LL", simulated(last)))
    ]
    report = callgrind(boards, steps, mask, "--cache-sim=yes", "--branch-sim=yes", *caches)
    return {name: number / (boards * steps) for name, number in totals(report).items()}


def totals(report: str) -> dict[str, int]:
    """Returns the totals in a report of callgrind, by our names."""
    names = _match(r"^events: (.*)$", report).split()
    numbers = _match(r"^(?:totals|summary): (.*)$", report).split()
    # Zeros at the end of a line are left out.
    counted = dict.fromkeys(names, 0) | dict(zip(names, map(int, numbers), strict=False))
    return {
        name: sum(counted[event] for event in events)
        for name, events in _EVENTS.items()
        if set(events) <= counted.keys()
    }


def work_per_ply(boards: int, steps: int, mask: str) -> dict:
    """Counts "operations", "instructions" and "bytes" per ply of `step` by lackey, for a roofline.

    An operation is an instruction that neither loads, stores nor jumps on a condition; one on
    vectors counts once per 64-bit lane. That is an estimate: an instruction that adds what it loads
    is not counted, a copy is. All instructions are an upper bound. Bytes are those that
    instructions load and store, whichever cache serves them.
    """

    def counted(steps: int, selections: int) -> dict:
        with tempfile.NamedTemporaryFile("r") as report:
            gpp.run(
                [
                    "valgrind",
                    "--tool=lackey",
                    "--basic-counts=yes",
                    "--detailed-counts=yes",
                    f"--log-file={report.name}",
                    *program(boards, steps, mask, selections),
                ]
            )
            return _lackey(report.read())

    program(boards, steps, mask)  # compiled once, not by all of them
    # Selecting actions, and all that comes before the first step, cancel out.
    runs = pd.DataFrame(together(counted, [(n, s) for n in (steps, 2 * steps) for s in (1, 2)]))
    shorter, longer = (2 * runs.iloc[i] - runs.iloc[i + 1] for i in (0, 2))
    return ((longer - shorter) / (boards * steps)).to_dict()


def _lackey(report: str) -> dict:
    """Returns operations, instructions and bytes of a whole process."""
    report = report.replace(",", "")
    instructions, moved = int(_match(r"guest instrs:\s+(\d+)", report)), 0
    elsewhere = int(_match(r"Jccs:[^:]*total:\s+(\d+)", report))
    for kind, *numbers in re.findall(r"\b([IFV])(\d+)\s+(\d+)\s+(\d+)\s+(\d+)", report):
        bits, loads, stores, computed = map(int, numbers)
        moved += bits // 8 * (loads + stores)
        elsewhere += loads + stores
        if kind == "V":
            instructions += (bits // 64 - 1) * computed
    return {"operations": instructions - elsewhere, "instructions": instructions, "bytes": moved}


def _match(pattern: str, report: str) -> str:
    """Returns the first group of a pattern in a report of valgrind."""
    return next(re.finditer(pattern, report, re.MULTILINE))[1]


def program(
    boards: int, steps: int, mask: str, selections: int = 1, threads: int | None = None
) -> list[str]:
    """Returns the command that plays, compiled if it isn't yet; of `selections` of actions per step
    the last are played.

    With `threads` every second step runs on that many, the others on one, and the command prints
    the threads and the seconds of each step.
    """
    binary = gpp.build("steps", paths.CPP / "course" / "bench_rung.cpp", FLAGS)
    values = (binary, boards, steps, mask, selections, *([threads] if threads else []))
    return [str(value) for value in values]
