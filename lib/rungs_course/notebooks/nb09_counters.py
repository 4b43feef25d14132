"""Counters: the study's table of them, checked, what our own count, and what a miss costs."""

import contextlib
import mmap
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import seaborn

from rungs.devel import CACHE_LINE, paths
from rungs.machine import describe
from rungs_course import compiled, plots
from rungs_course.machine.topology import Cache
from rungs_course.measure import valgrind
from rungs_course.measure.turns import timed_rounds

_HUGE = 2**21  # bytes of a huge page; pages are 4,096 bytes otherwise
HUGE_FROM = 2 * _HUGE  # the smallest working set that is timed in them


def instructions_by_header(boards: int, steps: int, mask: str) -> pd.DataFrame:
    """Counts the instructions of `step` in random self-play on the serial rung, from the start of a
    game.

    Returns a row per header: `header` ("chess/boards.hpp"), `instructions` per ply, most first.
    """
    totals = pd.Series(_by_file(valgrind.callgrind(boards, steps, mask)), name="instructions")
    by_header = totals.groupby(_header).sum().sort_values(ascending=False) / (boards * steps)
    return by_header.rename_axis("header").reset_index()


def _by_file(text: str) -> dict[str, int]:
    """Returns instructions by source file; inlined code counts where it was written."""
    names: dict[str, str] = {}
    totals: dict[str, int] = {}
    file, skip = "", False
    for line in text.splitlines():
        if match := re.match(r"(fl|fi|fe)=\((\d+)\)(?: (.*))?", line):
            number, name = match[2], match[3]
            file = names.setdefault(number, name)
        elif match := re.match(r"(?:cfi|cfl)=\((\d+)\) (.*)", line):
            names.setdefault(*match.groups())
        elif line.startswith("calls="):
            skip = True  # the next line is what the callee took, which is counted there
        elif re.match(r"[\d+*-]", line):
            if not skip:
                totals[file] = totals.get(file, 0) + int(line.split()[1])
            skip = False
    return totals


def _header(file: str) -> str:
    """Returns a header by its path in `cpp`, and anything else by whose it is."""
    path = Path(file).resolve()
    if path.is_relative_to(paths.CPP):
        return str(path.relative_to(paths.CPP))
    return "the compiler's intrinsics" if path.stem.endswith("intrin") else "the C and C++ library"


def chain(num_bytes: int, rng: np.random.Generator, *, huge_pages: bool = False) -> np.ndarray:
    """Makes a chain of loads that visits all cache lines in random order, and then begins again.

    Returns (lines, 8) int64, aligned to cache lines: the first number of each line is at which byte
    the next line begins. No stride can be foreseen by a prefetcher. The system may refuse pages of
    2 MiB.
    """
    memory = mmap.mmap(-1, num_bytes + _HUGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with contextlib.suppress(OSError):  # a kernel without huge pages
        memory.madvise(mmap.MADV_HUGEPAGE if huge_pages else mmap.MADV_NOHUGEPAGE)
    buffer = np.frombuffer(memory, np.uint8)
    start = -buffer.ctypes.data % _HUGE
    lines = buffer[start : start + num_bytes].view(np.int64).reshape(-1, CACHE_LINE // 8)
    order = rng.permutation(len(lines))
    lines[order, 0] = np.roll(order, -1) * CACHE_LINE
    return lines


def _bytes_in_huge_pages() -> int:
    """Returns how much of this process's memory is in huge pages; 0 where it is not reported."""
    try:
        text = Path("/proc/self/smaps_rollup").read_text()
    except OSError:
        return 0
    return sum(int(line) * 1024 for line in re.findall(r"AnonHugePages: +(\d+) kB", text))


def chase(sizes: Iterable[int], *, loads: int, repeats: int, seed: int) -> pd.DataFrame:
    """Times loads that wait for each other, in working sets of several sizes, in turns.

    Working sets of 4 MiB and more are also timed in huge pages, where the system provides them.
    Before the timed loads one lap of the chain, but at most as many loads, fills the caches.
    Returns a row per size, kind of page and repeat: `bytes`, `pages` ("4 KiB" or "2 MiB"),
    `repeat`, and `seconds` of a load.
    """
    call, rng = compiled.load_machine().rungs_chase_seconds, np.random.default_rng(seed)
    racers = {}
    for size in sizes:
        for huge in (False, True) if size >= HUGE_FROM else (False,):
            before = _bytes_in_huge_pages()
            lines, at = chain(size, rng, huge_pages=huge), np.zeros(1, np.int64)
            if huge and _bytes_in_huge_pages() - before < size:
                continue

            def load(lines=lines, at=at) -> float:
                return call(lines.ctypes.data, at, min(len(lines), loads), loads)

            racers[size, "2 MiB" if huge else "4 KiB"] = load
    rows = [(*key, *rest) for key, *rest in timed_rounds(racers, repeats=repeats, warmup=1)]
    frame = pd.DataFrame(rows, columns=["bytes", "pages", "repeat", "seconds"])
    return frame.sort_values(["bytes", "pages", "repeat"], ignore_index=True)


def working_sets(largest: int, caches: Sequence[Cache]) -> list[int]:
    """Returns powers of two from 4 KiB to `largest` bytes, but not beyond the first that is twice
    the last cache, nor beyond an eighth of the machine's memory.
    """
    enough = 2 * max((cache.bytes for cache in caches), default=largest)
    most = min(largest, describe()["memory_bytes"] // 8)
    sets = [2**power for power in range(12, most.bit_length())]
    return [size for size in sets if size <= most and size < 2 * enough]


_FLAT = 1.25  # how many times as long a load may take in twice the set, on a plateau


def plateaus(times: pd.DataFrame, caches: Sequence[Cache]) -> pd.DataFrame:
    """Finds the plateaus of a latency curve, in pages of 4 KiB: two working sets or more, one twice
    the other, whose loads take about equally long.

    Each is the nearest cache that can hold its smallest set, and the last is what serves loads
    beyond them: "memory" if it reaches twice the last cache, else "beyond L2", say. Returns a row
    per plateau: `level`, `from KiB` and `to KiB`, its working sets, `reported KiB`, the cache's
    size, and `seconds` of a load.
    """
    medians = times[times["pages"] == "4 KiB"].groupby("bytes")["seconds"].median()
    groups = medians.groupby((medians.pct_change() > _FLAT - 1).cumsum())
    flat = [rows for _, rows in groups if len(rows) > 1]
    rows, passed = [], 0  # caches that can't serve a plateau, by their sizes and by those before
    for number, plateau in enumerate(flat, 1):
        first, last = int(plateau.index[0]), int(plateau.index[-1])
        passed = max(passed, sum(cache.bytes < first for cache in caches))
        if 1 < number == len(flat) or passed == len(caches):
            far = caches and last >= 2 * caches[-1].bytes
            level, capacity = "memory" if far else f"beyond L{passed}", None
        else:
            level, capacity = f"L{passed + 1}", caches[passed].bytes // 1024
            passed += 1
        rows.append((level, first // 1024, last // 1024, capacity, plateau.median()))
    columns = ["level", "from KiB", "to KiB", "reported KiB", "seconds"]
    return pd.DataFrame(rows, columns=columns).astype({"reported KiB": float})


def draw_latency(times: pd.DataFrame, caches: Sequence[Cache]):
    """Draws what a load that waits for the one before takes, over the size of the working set;
    marks the caches' sizes.
    """
    figure, axes = plots.axes(height=3.8)
    latencies = pd.DataFrame(
        {
            "pages": "pages of " + times["pages"],
            "KiB": times["bytes"] / 1024,
            "nanoseconds": times["seconds"] * 1e9,
        }
    )
    plots.median_lines(axes, latencies, "pages", "KiB", "nanoseconds")
    axes.legend(loc="lower right")
    for cache in caches:
        axes.axvline(cache.bytes / 1024, color=plots.GREY, linestyle=":", linewidth=1)
        at = (cache.bytes / 1024, 1.0)
        axes.annotate(
            f"L{cache.level} ", at, xycoords=("data", "axes fraction"), ha="right", va="top"
        )
    axes.set(yscale="log", ylabel="nanoseconds", title="Latency of a load, by the memory in use")
    plots.numbers_below(axes, "working set in KiB")
    return figure


def draw_misses(counts: pd.DataFrame, board_bytes: int, study: float):
    """Draws cache misses per ply over the number of boards, a line per level, and the study's
    misses of L1 per board.
    """
    figure, axes = plots.axes(height=3.6)
    misses = counts[counts["count"].str.fullmatch(r"L\d misses")]
    for name, rows, look in plots.lines(misses.groupby("count")):
        axes.plot(rows["boards"], rows["per ply"], label=name, **look)
    lines = board_bytes / CACHE_LINE
    axes.axhline(lines, color=plots.BLACK, linestyle="--", linewidth=1)
    text = f"all of a board, {lines:.0f} lines of {CACHE_LINE} bytes"
    at = (misses["boards"].min(), 1.05 * lines)
    axes.annotate(text, at, fontsize="small", va="bottom")
    axes.axhline(study, color=plots.BLUE, linestyle=":", label="L1 misses of the study")
    axes.set_ylim(0, 1.15 * max(lines, misses["per ply"].max()))
    axes.set_ylabel("misses per ply (simulated)")
    plots.numbers_below(axes, "boards")
    plots.legend_beside(axes)
    axes.set_title("Which cache a step misses")
    return figure


def draw_shares(table: pd.DataFrame):
    """Draws our counts per board and step as multiples of the study's, which is 1."""
    figure, axes = plots.axes(height=1.6 + 0.5 * len(table))
    share = table["ours"] / table["study"]
    seaborn.scatterplot(y=table["count"], x=share, color=plots.BLUE, s=80, ax=axes)
    axes.axvline(1, color=plots.BLACK, linestyle="--")
    for at, row in enumerate(table.assign(share=share).itertuples()):
        axes.hlines(at, row.share, 1, color=plots.BLUE)
        text = f"{plots.ratio(row.share)}  ({_count(row.ours)} and {_count(row.study)})"
        axes.annotate(
            text, (row.share, at), (0, 8), textcoords="offset points", fontsize="small", ha="left"
        )
    axes.set_xscale("log")
    axes.set_xlim(min(share.min(), 1) / 2, max(share.max(), 1) * 20)
    axes.set_ylim(len(table) - 0.5, -0.7)
    axes.set_xlabel("times the study's count, per board and step (dashed: the study)")
    axes.set_ylabel("")
    axes.set_title("The study's counters, and ours")
    return figure


def _count(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
