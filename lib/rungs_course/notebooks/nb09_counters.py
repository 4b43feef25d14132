"""Figures of counts, and the plateaus of a latency curve."""

from collections.abc import Sequence

import pandas as pd

from rungs.devel import CACHE_LINE
from rungs.machine import describe
from rungs_course import plots
from rungs_course.machine.topology import Cache


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
    axes.yaxis.set_major_formatter("{x:,g}")
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
    """Draws our numbers as multiples of the study's, which is 1."""
    figure, axes = plots.axes(height=1.6 + 0.5 * len(table))
    share = table["ours"] / table["study"]
    plots.seaborn.scatterplot(y=table["count"], x=share, color=plots.BLUE, s=80, ax=axes)
    axes.axvline(1, color=plots.BLACK, linestyle="--")
    for at, row in enumerate(table.assign(share=share).itertuples()):
        axes.hlines(at, row.share, 1, color=plots.BLUE)
        text = f"{plots.ratio(row.share)}  ({_count(row.ours)} and {_count(row.study)})"
        axes.annotate(
            text,
            (min(row.share, 1), at),
            (4, 8),
            textcoords="offset points",
            fontsize="small",
            bbox={"facecolor": "white", "linewidth": 0, "pad": 0.5},
        )
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlim(min(share.min(), 1) / 2, max(share.max(), 1) * 20)
    axes.set_ylim(len(table) - 0.5, -0.7)
    axes.set_xlabel("times the study's; counts per board and step (dashed: the study)")
    axes.set_ylabel("")
    axes.set_title("The study's counters, and ours")
    return figure


def _count(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
