"""Figures of threads that share a step out: cache lines, where time goes, threads × boards.

They are apart from the measurements, which ranks import as well: figures take seconds to import.
"""

import dataclasses

import numpy as np
import pandas as pd
import seaborn as sns

from rungs.devel import CACHE_LINE
from rungs_course import plots, widgets
from rungs_course.notebooks.nb04_openmp import moves
from rungs_course.teams import BLOCK, StepCost

_SHOWN_LINES = 3
_THREADS = [1, 2, 4, 8, 16, 32, 64]


def draw_cache_lines(written: pd.DataFrame):
    """Draws the writes of each core to some cache lines, and who has the first one over time."""
    groups = written.groupby("way", sort=False)
    figure, axes = plots.axes(8.0, 3.9, nrows=2, ncols=len(groups), sharey="row")
    looks = plots.fills(("core 0", "core 1"), (plots.BLUE, plots.ORANGE))
    for (memory, time), (layout, rows) in zip(axes.T, groups, strict=True):
        moved = moves(rows)
        _memory(memory, rows[rows["line"] < _SHOWN_LINES], looks)
        _line_over_time(time, moved[moved["line"] == 0], looks)
        memory.set_title(f"{layout}: lines move {moved['moved'].sum()} times", fontsize="medium")
    axes[0, 0].set_yticks(range(_SHOWN_LINES), [f"line {n}" for n in range(_SHOWN_LINES)])
    axes[0, 0].invert_yaxis()
    axes[1, 0].set_yticks([0, 1], ["core 0", "core 1"])
    axes[1, 0].set_ylim(1.5, -0.5)
    plots.legend_below(figure, looks, 2)
    return figure


def _memory(axes, rows: pd.DataFrame, looks: dict) -> None:
    """Draws lines of memory, a row each, with the blocks whose flags are there."""
    white = {"facecolor": "white", "edgecolor": "none", "pad": 0.4, "alpha": 0.8}
    for thread, part in rows.groupby("thread"):
        bars = axes.barh(part["line"], 1, left=part["place"], height=0.8, **looks[f"core {thread}"])
        axes.bar_label(bars, part["block"], label_type="center", fontsize=6, bbox=white)
    places = CACHE_LINE // BLOCK  # a flag is a byte
    axes.set_xlim(0, places)
    axes.set_xticks([0, places], ["0", f"{CACHE_LINE} bytes"])
    axes.grid(False)


def _line_over_time(axes, rows: pd.DataFrame, looks: dict) -> None:
    """Draws at which core a line is, and each write to it."""
    when = rows["time"] + rows["thread"] / 2
    axes.plot(when, rows["thread"], color=plots.GREY, linewidth=1)
    for core, part in rows.groupby("thread"):
        color, marker = looks[f"core {core}"]["facecolor"], plots.MARKERS[core]
        axes.plot(when[part.index], part["thread"], marker, color=color, markersize=5)
    axes.set_xlim(-0.7, 16)
    axes.set_xlabel("blocks played by each core")
    axes.set_title("where line 0 is", fontsize="small")
    axes.grid(False)


def draw_lost(shares: pd.DataFrame):
    """Draws the time that threads lose, a dot per repeat, a row of dots per part and batch."""
    figure, axes = plots.axes(height=3.4)
    _strips(axes, _of_boards(shares).assign(per_cent=shares["share"] * 100), "per_cent", "part")
    axes.axvline(0, color=plots.BLACK, linewidth=1)
    _symlog_below(axes, 100)  # next to busy neighbours some are thousands
    axes.set_xlabel("per cent of the ideal time (dots: repeats, strokes: medians)")
    axes.set_title("Time of a step beyond an even share, by cause")
    return figure


def _symlog_below(axes, linear: int) -> None:
    """Makes the horizontal axis linear from `-linear` to `linear`, and logarithmic outside."""
    axes.set_xscale("symlog", linthresh=linear)
    low, high = axes.get_xlim()
    wide = max(-low, high) > 10 * linear
    powers = [linear * 100**power for power in range(4)]
    ticks = powers if wide else [linear / 4, linear / 2, linear]
    every = [-tick for tick in ticks] + [0, *ticks]
    axes.set_xticks([tick for tick in every if low <= tick <= high])
    axes.xaxis.set_major_formatter("{x:,g}")


def _of_boards(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns a frame with its number of boards in words, as `hue`."""
    return frame.assign(hue=frame["num_envs"].astype(str) + " boards")


def _strips(axes, frame: pd.DataFrame, x: str, y: str) -> None:
    """Draws dots over column `x`, in rows by `y` and colours by `hue`; strokes are medians."""
    medians = frame.groupby([y, "hue"], sort=False)[x].median().reset_index()
    look = {"x": x, "y": y, "hue": "hue", "dodge": True, "ax": axes}
    look["palette"] = dict(zip(frame["hue"].unique(), plots.COLORS, strict=False))
    sns.stripplot(frame, jitter=0.08, size=4, **look)
    stroke = {"size": 13, "marker": "|", "linewidth": 2}
    sns.stripplot(medians, jitter=False, legend=False, **stroke, **look)
    axes.set_ylabel("")
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False, title=None)


def draw_counters(counted: pd.DataFrame):
    """Draws how long an increment takes over the bytes between counters, a line per way."""
    named = counted.assign(nanoseconds=counted["seconds"] * 1e9)
    figure, axes = plots.axes(height=3.6)
    plots.median_lines(axes, named, "way", "stride", "nanoseconds")
    axes.axvline(CACHE_LINE, color=plots.BLACK, linestyle=":", linewidth=1, label="a cache line")
    axes.set_ylim(0, None)
    plots.numbers_below(axes, "bytes from one thread's counter to the next thread's")
    strides = sorted(named["stride"].unique())
    axes.set_xticks(strides, [str(stride) for stride in strides])
    axes.set_ylabel("nanoseconds per increment")
    axes.set_title("Each thread increments its own counter")
    plots.legend_beside(axes)
    return figure


def draw_barriers(times: pd.DataFrame):
    """Draws what a second barrier in a step takes, a dot per repeat."""
    wide = times.pivot(index=["place", "num_envs", "repeat"], columns="way", values="seconds")
    longer = (wide["two barriers"] - wide["one barrier"]) * 1e6
    figure, axes = plots.axes(height=3.0)
    _strips(axes, _of_boards(longer.rename("microseconds").reset_index()), "microseconds", "place")
    axes.axvline(0, color=plots.BLACK, linewidth=1)
    _symlog_below(axes, 10)
    axes.set_xlabel("microseconds per step (dots: repeats, strokes: medians)")
    axes.set_title("What a second barrier costs")
    return figure


def draw_schedules(scheduled: pd.DataFrame):
    """Draws by how much loops miss their even share, a dot per repeat, rows of schedules."""
    named = scheduled.assign(per_cent=scheduled["share"] * 100, hue=scheduled["loop"])
    figure, axes = plots.axes(height=3.8)
    _strips(axes, named, "per_cent", "schedule")
    axes.axvline(0, color=plots.BLACK, linewidth=1)
    axes.set_xlabel("per cent beyond the even share (dots: repeats, strokes: medians)")
    axes.set_title("A loop, divided by five schedules")
    return figure


def draw_speedups(
    cost: StepCost, boards: int, threads: int, measured: pd.DataFrame, workers: str = "threads"
):
    """Draws the speed-up that a cost predicts over threads, and what was measured: `num_envs`,
    `threads`, `speedup`.

    The number `threads` is marked; `workers` that share the boards are "threads" or "ranks".
    """
    figure, axes = plots.axes(height=3.6)
    gains = [float(cost.speedup(np.array(boards), number)) for number in _THREADS]
    axes.plot(_THREADS, _THREADS, "--", color=plots.BLACK, linewidth=1, label="ideal")
    label = f"predicted: {boards:,} boards, synchronisation {plots.duration(cost.meeting)}"
    axes.plot(_THREADS, gains, "o-", color=plots.BLUE, label=label)
    gain = float(cost.speedup(np.array(boards), threads))
    axes.plot(threads, gain, "D", color=plots.ORANGE, markersize=9, label=f"{threads} {workers}")
    axes.annotate(plots.ratio(gain), (threads, gain), (8, -12), textcoords="offset points")
    here = measured[measured["num_envs"] == boards]
    if len(here):
        look = {"color": plots.BLACK, "markersize": 13, "label": "measured here"}
        axes.plot(here["threads"], here["speedup"], "*", **look)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_ylim(min(0.25, min(gains) / 1.5), None)
    axes.set_xlabel(workers)
    axes.set_ylabel("speed relative to one")
    axes.legend(frameon=False)
    axes.set_title(f"{workers.capitalize()} × boards")
    return figure


def explore_threads(cost: StepCost, measured: pd.DataFrame, workers: str = "threads"):
    """Shows what threads gain, for boards, threads and a meeting's time of the reader's choice."""

    def draw(boards, threads, microseconds):
        changed = dataclasses.replace(cost, meeting=microseconds * 1e-6)
        return draw_speedups(changed, boards, threads, measured, workers)

    counts = sorted({2**power for power in range(15)} | set(measured["num_envs"]))
    fitted = round(cost.meeting * 1e6, 2)
    choices = sorted({fitted, 0.1, 0.5, 1, 2, 5, 10, 50, 200})
    return widgets.explore(
        draw,
        boards=widgets.slider(counts, max(measured["num_envs"]), "boards"),
        threads=widgets.slider(_THREADS, 2, workers),
        microseconds=widgets.slider(choices, fitted, "µs per sync"),
    )


_SHOWN_STEPS = 5  # of a timeline


def draw_timelines(frame: pd.DataFrame):
    """Draws what ran when in the first steps, one row of bars per kind of work."""
    groups = frame.groupby("mode", sort=False)
    steps = min((rows["work"] == "infer").sum() // 2 for _, rows in groups)
    seconds = frame["end"].max() * min(1, _SHOWN_STEPS / steps)
    figure, axes = plots.axes(height=1.4 + 1.2 * len(groups), nrows=len(groups), squeeze=False)
    halves = ("first half of the boards", "second")
    looks = plots.fills(halves, (plots.BLUE, plots.ORANGE))
    for panel, (title, rows) in zip(axes[:, 0], groups, strict=True):
        pieces = rows.sort_values("work")
        kind = pieces["half"].map(dict(enumerate(halves)))
        plots.timeline_bars(panel, pieces.assign(row=pieces["work"], kind=kind), looks)
        panel.set_xlim(0, seconds)
        panel.xaxis.set_major_formatter(lambda second, _: f"{second * 1e3:g}")
        panel.set_title(title, fontsize=9)
    axes[-1, 0].set_xlabel("milliseconds")
    plots.legend_below(figure, looks, 2)
    return figure
