"""Figures of threads that share a step out: cache lines, where time goes, threads × boards."""

import ipywidgets
import numpy as np
import pandas as pd
import seaborn as sns
from IPython.display import display

from rungs._src.core.memory import CACHE_LINE
from rungs_course import plots
from rungs_course.nb04_openmp import StepCost, moves
from rungs_course.plots import image

_SHOWN_LINES = 3
_THREADS = np.array([1, 2, 4, 8, 16, 32, 64])


def draw_cache_lines(written: pd.DataFrame):
    """Draws who writes where in some cache lines, and where the first of them is over time.

    Args:
        written: of `rungs_course.nb04_openmp.writes`, of two threads.
    """
    ways = written["way"].unique()
    figure, axes = plots.axes(8.0, 3.9, nrows=2, ncols=len(ways), squeeze=False)
    looks = plots.fills(("core 0", "core 1"), (plots.BLUE, plots.ORANGE))
    for (memory, time), way in zip(axes.T, ways, strict=True):
        rows = written[written["way"] == way]
        _memory(memory, rows[rows["line"] < _SHOWN_LINES], looks)
        _line_over_time(time, moves(rows).query("line == 0"), looks)
        count = int(moves(rows)["moved"].sum())
        memory.set_title(f"{way}: lines move {count} times", fontsize="medium")
    axes[0, 0].set_yticks(range(_SHOWN_LINES), [f"line {n}" for n in range(_SHOWN_LINES)])
    axes[1, 0].set_yticks([0, 1], ["core 0", "core 1"])
    plots.legend_below(figure, looks, 2)
    return figure


def _memory(axes, rows: pd.DataFrame, looks: dict) -> None:
    """Draws lines of memory, a row each, with the boards whose rewards are there."""
    places = CACHE_LINE // 4
    for line in range(_SHOWN_LINES):
        for place in range(places):
            empty = {"facecolor": "white", "edgecolor": plots.GREY}
            axes.barh(line, 0.94, left=place, height=0.8, linewidth=0.4, **empty)
    for row in rows.itertuples():
        look = looks[f"core {row.thread}"]
        axes.barh(row.line, 0.94, left=row.place, height=0.8, linewidth=0.4, **look)
        axes.text(
            row.place + 0.47, row.line, row.board, ha="center", va="center", fontsize=6
        ).set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.4, "alpha": 0.8})
    axes.invert_yaxis()
    axes.set_xticks([0, places], ["0", f"{CACHE_LINE} bytes"])
    axes.set_yticks([])
    axes.grid(False)


def _line_over_time(axes, rows: pd.DataFrame, looks: dict) -> None:
    """Draws at which core a line is, and each write to it."""
    when = rows["time"] + rows["thread"] / 2
    axes.plot(when, rows["thread"], color=plots.GREY, linewidth=1)
    for core, mine in rows.groupby("thread"):
        color = looks[f"core {core}"]["facecolor"]
        marker = plots.MARKERS[core]
        axes.plot(mine["time"] + core / 2, mine["thread"], marker, color=color, markersize=5)
    axes.set_ylim(1.5, -0.5)
    axes.set_xlim(-0.7, 16)
    axes.set_yticks([])
    axes.set_xlabel("boards played by each core")
    axes.set_title("where line 0 is", fontsize="small")
    axes.grid(False)


def draw_lost(shares: pd.DataFrame):
    """Draws what keeps threads from the ideal, a dot per repeat, a row of dots per part and batch.

    Args:
        shares: of `rungs_course.nb04_openmp.parts`.
    """
    figure, axes = plots.axes(height=3.4)
    named = shares.assign(
        boards=shares["num_envs"].astype(str) + " boards", per=shares["share"] * 100
    )
    kinds = list(dict.fromkeys(named["boards"]))
    look = {"palette": dict(zip(kinds, plots.COLORS, strict=False)), "hue_order": kinds}
    sns.stripplot(
        named, x="per", y="part", hue="boards", dodge=True, jitter=0.08, size=4, ax=axes, **look
    )
    medians = named.groupby(["part", "boards"], sort=False)["per"].median().reset_index()
    sns.stripplot(
        medians,
        x="per",
        y="part",
        hue="boards",
        dodge=True,
        jitter=False,
        size=13,
        marker="|",
        linewidth=2,
        legend=False,
        ax=axes,
        **look,
    )
    axes.axvline(0, color=plots.BLACK, linewidth=1)
    axes.set_xscale("symlog", linthresh=100)  # beside busy neighbours some are thousands
    low, high = axes.get_xlim()
    ticks = (-10_000, -1000, -100, -50, -25, 0, 25, 50, 100, 1000, 10_000)
    axes.set_xticks([tick for tick in ticks if low <= tick <= high], minor=False)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_ylabel("")
    axes.set_xlabel("per cent of the ideal time (dots: repeats, strokes: medians)")
    axes.legend(frameon=False, title=None)
    axes.set_title("What a step takes beyond its even share")
    return figure


def draw_speedups(
    cost: StepCost,
    boards: int,
    threads: int,
    measured: pd.DataFrame,
    meeting: float | None = None,
    workers: str = "threads",
):
    """Draws the speed-up that a cost foretells over threads, and what was measured.

    Args:
        cost: of a step, as fitted.
        boards: how many.
        threads: a number that is marked.
        measured: a row per number of boards: `num_envs`, `threads`, `speedup`; those of `boards`
            are drawn.
        meeting: seconds of a meeting; None: as fitted.
        workers: what shares the boards: "threads" or "ranks".
    """
    changed = StepCost(cost.ply, cost.call, cost.meeting if meeting is None else meeting)
    figure, axes = plots.axes(height=3.6)
    gains = np.array([changed.speedup(np.array(boards), int(number)) for number in _THREADS])
    axes.plot(_THREADS, _THREADS, "--", color=plots.BLACK, linewidth=1, label="a gain for each")
    label = f"{boards:,} boards, meeting {plots.duration(changed.meeting)}"
    axes.plot(_THREADS, gains, "o-", color=plots.BLUE, label=f"foretold: {label}")
    gain = float(changed.speedup(np.array(boards), threads))
    axes.plot(threads, gain, "D", color=plots.ORANGE, markersize=9, label=f"{threads} {workers}")
    axes.annotate(plots.ratio(gain), (threads, gain), (8, -12), textcoords="offset points")
    here = measured[measured["num_envs"] == boards]
    if len(here):
        axes.plot(
            here["threads"],
            here["speedup"],
            "*",
            color=plots.BLACK,
            markersize=13,
            label="measured here",
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_ylim(min(0.25, float(gains.min()) / 1.5), None)
    axes.set_xlabel(workers)
    axes.set_ylabel("times as fast as one")
    axes.legend(frameon=False)
    axes.set_title(f"{workers.capitalize()} × boards")
    return figure


def explore_threads(cost: StepCost, measured: pd.DataFrame, workers: str = "threads"):
    """Shows what threads gain, for boards, threads and a meeting's time of the reader's choice.

    Args:
        cost: of a step, as fitted.
        measured: as of `speedups`.
        workers: likewise.
    """
    counts = sorted({2**power for power in range(15)} | set(measured["num_envs"]))
    fitted = cost.meeting * 1e6

    def show(boards, threads, microseconds):
        display(image(draw_speedups(cost, boards, threads, measured, microseconds * 1e-6, workers)))

    wide = {"style": {"description_width": "8em"}}
    choices = sorted({round(fitted, 2), 0.1, 0.5, 1, 2, 5, 10, 50, 200})
    return ipywidgets.interactive(
        show,
        boards=ipywidgets.SelectionSlider(
            options=counts, value=max(measured["num_envs"]), description="boards", **wide
        ),
        threads=ipywidgets.SelectionSlider(
            options=_THREADS.tolist(), value=2, description=workers, **wide
        ),
        microseconds=ipywidgets.SelectionSlider(
            options=choices, value=round(fitted, 2), description="µs a meeting", **wide
        ),
    )


_SHOWN_STEPS = 5  # of a timeline


def draw_timelines(frame: pd.DataFrame):
    """Draws what ran when in the first steps, one row of bars per kind of work.

    Args:
        frame: of `rungs_course.nb04_openmp.timeline`, with a column `mode`, the title.
    """
    frames = dict(list(frame.groupby("mode", sort=False)))
    steps = min((rows["work"] == "infer").sum() // 2 for rows in frames.values())
    seconds = frame["end"].max() * min(1, _SHOWN_STEPS / steps)
    figure, axes = plots.axes(height=1.4 + 1.2 * len(frames), nrows=len(frames), squeeze=False)
    looks = plots.fills(("first half of the boards", "second"), (plots.BLUE, plots.ORANGE))
    first, second = looks.values()
    for each, (title, rows) in zip(axes[:, 0], frames.items(), strict=True):
        shown = rows[rows["end"] <= seconds]
        for row in shown.itertuples():
            look = second if row.half else first
            at = 0 if row.work == "infer" else 1
            each.barh(at, row.end - row.start, left=row.start, **look)
        each.set_yticks([0, 1], ["infer", "simulate"])
        each.set_xlim(0, seconds)
        each.set_title(title, fontsize=9)
    axes[-1, 0].set_xlabel("seconds")
    plots.legend_below(figure, looks, 2)
    return figure
