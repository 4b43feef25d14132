"""From Python to C++, one idea at a time: figures of one step in many versions."""

import pandas as pd
import seaborn as sns
from matplotlib.colors import LogNorm

from rungs_course import plots
from rungs_course.studies.steps import ALL


def waterfall(table: pd.DataFrame, floor: float | None = None):
    """Draws the time of a ply, row by row: each bar is what one idea takes away, or adds.

    Args:
        table: of `rungs_course.studies.steps.waterfall`.
        floor: nanoseconds of merely writing the outputs, drawn as the bound.
    """
    figure, axes = plots.axes(8.0, 1.4 + 0.38 * len(table))
    times = table["nanoseconds"]
    for i, row in enumerate(table.itertuples()):
        before = times.iloc[max(i - 1, 0)]
        left, right = sorted((row.nanoseconds, before))
        color = plots.BLUE if row.relative >= 1 else plots.ORANGE
        if i == 0:
            left, color = 0, plots.GREY
        hatch = {"hatch": "///", "edgecolor": "white"} if color == plots.ORANGE else {}
        axes.barh(i, right - left, left=left, color=color, **hatch)
        axes.plot([row.nanoseconds] * 2, [i - 0.4, min(i + 1.4, len(table) - 0.6)], color="black")
        gain = f"  {plots.ratio(row.relative)}" if i else ""
        text = f"{plots.duration(row.nanoseconds * 1e-9)}{gain}"
        axes.annotate(text, (right, i), (5, 0), textcoords="offset points", va="center")
    names = [f"{row.idea}  [{row.racer}]" for row in table.itertuples()]
    axes.set_yticks(range(len(table)), names)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlim(min(times.min(), floor or times.min()) / 1.5, times.max() * 12)
    if floor:
        axes.axvline(floor, color=plots.BLACK, linestyle="--", zorder=0)
        axes.text(floor, -0.75, " bound: only writing the outputs", fontsize="small")
    axes.grid(axis="x", color="#DDDDDD")
    axes.set_xlabel("time of a ply (logarithmic), and how many times as fast as the row above")
    axes.set_title("From Python to C++, one idea at a time", pad=16)
    return figure


def flags(table: pd.DataFrame):
    """Draws versions by compiler flags, as nanoseconds per ply.

    Args:
        table: rows are versions, columns are flags.
    """
    figure, axes = plots.axes(7.0, 1.6 + 0.4 * len(table))
    gains = table.div(table.min(axis=1), axis=0)
    texts = table.map(lambda ns: plots.duration(ns * 1e-9))
    names = [flags.replace(" ", "\n") for flags in table.columns]
    sns.heatmap(
        gains,
        annot=texts,
        fmt="",
        norm=LogNorm(1, gains.to_numpy().max() * 1.01),
        cmap=sns.light_palette(plots.BLUE, as_cmap=True),
        cbar_kws={"label": "times the row's fastest"},
        linewidths=1,
        xticklabels=names,
        ax=axes,
    )
    axes.set(xlabel="flags of g++", ylabel="")
    axes.tick_params(length=0, labelrotation=0)
    axes.set_title("The same headers, other flags: time of a ply")
    return figure


def work(counts: pd.DataFrame):
    """Draws instructions and mispredicted branches of each version, per ply.

    Args:
        counts: of `rungs_course.studies.steps.instructions`.
    """
    figure, axes = plots.axes(9.0, 1.2 + 0.34 * len(counts), ncols=2, sharey=True)
    names = counts["racer"].map(dict(ALL))
    for each, column in zip(axes, ("instructions", "mispredicted"), strict=True):
        sns.barplot(x=counts[column], y=names, color=plots.BLUE, ax=each)
        for i, value in enumerate(counts[column]):
            each.annotate(
                f"{value:,.0f}" if value >= 10 else f"{value:.1f}",
                (value, i),
                (4, 0),
                textcoords="offset points",
                va="center",
            )
        each.set_xscale("log")
        each.set_xlim(counts[column].min() / 2, counts[column].max() * 8)
        each.grid(axis="x", color="#DDDDDD")
        each.set_ylabel("")
    axes[0].set_xlabel("instructions per ply (logarithmic)")
    axes[1].set_xlabel("mispredicted branches per ply (simulated)")
    figure.suptitle("Work, and guesses that fail")
    return figure
