"""Threads that do hardly anything but share: counters, and loops with uneven iterations."""

import time

import numpy as np
import pandas as pd

from rungs.devel import CACHE_LINE, loader, openmp
from rungs.devel.envs import SCHEDULES
from rungs.errors import MismatchError
from rungs.memory import zeroed_lines
from rungs_course import compiled, plots


def count(stride: int, threads: int, *, times: int, turns: int) -> tuple[np.ndarray, np.ndarray]:
    """Lets threads increment a counter each, `stride` bytes (a multiple of eight) apart, in turns
    of `times` increments.

    Returns when each thread began and ended each turn, two arrays of (turns, threads) seconds;
    raises `MismatchError` if an increment was lost.
    """
    openmp.team(loader.load(), threads)
    memory = zeroed_lines(stride * threads)
    begin, end = stamps = np.zeros((2, turns, threads))
    compiled.load_course().rungs_counters_count(
        memory.ctypes.data, stride, times, turns, threads, *stamps
    )
    if set(memory.view(np.int64)[:: stride // 8].tolist()) != {times * turns}:
        raise MismatchError(f"counters {stride} bytes apart lost increments")
    return begin, end


def overlap(begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Returns the share of each turn's time in which all threads ran, (turns,), from when each
    thread began and ended it, (turns, threads).
    """
    together = (end.min(axis=1) - begin.max(axis=1)).clip(min=0)
    return together / (end.max(axis=1) - begin.min(axis=1))


def run_loop(work: np.ndarray, schedule: str, chunk: int, threads: int) -> tuple[float, int]:
    """Runs a loop whose iteration i multiplies and adds `work[i]` times (int64).

    OpenMP divides it among threads by a schedule, `chunk` iterations at a time (0: one even run per
    thread). Returns its seconds, and its sum, which is the same for all.
    """
    openmp.team(loader.load(), threads)
    loop = compiled.load_course().rungs_counters_loop
    start = time.perf_counter()
    total = loop(work, len(work), SCHEDULES.index(schedule), chunk, threads)
    return time.perf_counter() - start, total


def draw_counters(counters: pd.DataFrame):
    """Draws the upper quartile of an increment's time over the bytes between counters, and the
    share of time in which the threads overlapped.
    """
    quartiles = counters.groupby(["way", "stride", "repeat"], sort=False)["seconds"].quantile(0.75)
    figure, (above, below) = plots.axes(
        height=4.8, nrows=2, sharex=True, gridspec_kw={"height_ratios": [2.2, 1]}
    )
    named = quartiles.mul(1e9).rename("nanoseconds").reset_index()
    plots.median_lines(above, named, "way", "stride", "nanoseconds")
    together = counters[counters["way"] != "one thread"].assign(share=counters["overlap"] * 100)
    second = {"marker": plots.MARKERS[1], "color": plots.COLORS[1]}  # as above
    plots.median_line(below, together.groupby("stride")["share"], "", second)
    for panel in (above, below):
        line = {"color": plots.BLACK, "linestyle": ":", "linewidth": 1}
        panel.axvline(CACHE_LINE, label="a cache line", **line)
        panel.set_ylim(0, None)
    below.set(ylim=(0, 105), ylabel="% of the time\nat the same time")
    above.set(ylabel="ns per increment\n(upper quartile)")
    above.set_title("Each thread increments its own counter")
    strides = counters["stride"]
    plots.numbers_below(below, "bytes from one thread's counter to the next thread's", strides)
    plots.legend_beside(above)
    return figure


def draw_schedules(schedules: pd.DataFrame):
    """Draws by how much loops miss their even share, a dot per repeat, rows of schedules."""
    named = schedules.assign(per_cent=schedules["share"] * 100)
    medians = named.groupby(["schedule", "loop"], sort=False)["per_cent"].median().reset_index()
    figure, axes = plots.axes(height=3.8)
    look = {"x": "per_cent", "y": "schedule", "hue": "loop", "dodge": True, "ax": axes}
    look["palette"] = dict(zip(named["loop"].unique(), plots.COLORS, strict=False))
    plots.seaborn.stripplot(named, jitter=0.08, size=4, **look)
    stroke = {"size": 13, "marker": "|", "linewidth": 2}
    plots.seaborn.stripplot(medians, jitter=False, legend=False, **stroke, **look)
    axes.axvline(0, color=plots.BLACK, linewidth=1)
    axes.set(ylabel="", xlabel="per cent beyond the even share (dots: repeats, strokes: medians)")
    axes.set_title("A loop, divided by five schedules")
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False, title="iterations")
    return figure
