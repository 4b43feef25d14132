"""The course's figures: each a function of saved data."""

import matplotlib.patches
import numpy as np
import pandas as pd

from rungs.show import style


def _bars(axes, names, values, texts, color) -> None:
    """Horizontal bars, first on top, each with its value written beside it."""
    axes.barh(range(len(names)), values, color=color)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    for i, (value, text) in enumerate(zip(values, texts, strict=True)):
        label = axes.annotate(text, (value, i), (4, 0), textcoords="offset points", va="center")
        label.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 1})
    axes.margins(x=0.18)


def ladder(table: pd.DataFrame, floor: float | None = None):
    """Plies per second of every rung, on a logarithmic scale.

    Args:
        table: of `rungs.measure.ladder.ladder_table`.
        floor: plies per second of merely writing the outputs, drawn as the bound.
    """
    height = 1.5 + 0.55 * len(table)
    figure, axes = style.axes(height=height)
    speeds = table["plies_per_second"]
    gains = table["absolute_speedup"]
    texts = [f"{style.speed(s)}  ({style.ratio(g)})" for s, g in zip(speeds, gains, strict=True)]
    _bars(axes, table["rung"], speeds, texts, style.BLUE)
    axes.set_xscale("log")
    axes.set_xlim(speeds.min() / 4, max(speeds.max(), floor or 0) * 4)
    if floor:
        axes.axvline(floor, color=style.BLACK, linestyle="--", zorder=0)
        label = f"bound: only writing the outputs, {style.speed(floor)} "
        axes.text(floor, len(table) - 0.1, label, ha="right", va="center", fontsize="small")
        axes.set_ylim(len(table) + 0.3, -0.6)
    axes.grid(axis="x", color="#DDDDDD")
    axes.set_xlabel("plies per second (logarithmic)")
    axes.set_title("The ladder: the same games, rung by rung")
    return figure


def batch_parts(frame: pd.DataFrame, title: str):
    """Where the time of one training batch goes, from `rungs.train.cost.time_batches`."""
    medians = frame.groupby("part", sort=False)["seconds"].median()
    share = medians / medians.sum()
    figure, axes = style.axes(height=2.2)
    left = 0.0
    colors = {"infer": style.GREY, "generate": style.ORANGE, "update": style.SKY}
    for part, seconds in medians.items():
        axes.barh(0, seconds * 1e3, left=left, color=colors[part], edgecolor="white")
        text = f"{part}\n{style.duration(seconds)}\n{share[part]:.0%}"
        if share[part] > 0.08:
            axes.text(left + seconds * 500, 0, text, ha="center", va="center", fontsize="small")
        left += seconds * 1e3
    axes.set_yticks([])
    axes.set_xlabel("milliseconds per batch")
    axes.set_title(title)
    return figure


def profile(frame: pd.DataFrame, title: str):
    """Where a rung's own time goes: `frame` has columns `part` and `share` (0 to 1)."""
    figure, axes = style.axes(height=1.2 + 0.4 * len(frame))
    texts = [f"{share:.0%}" for share in frame["share"]]
    _bars(axes, frame["part"], frame["share"] * 100, texts, style.ORANGE)
    axes.set_xlabel("per cent of the time of a step")
    axes.set_title(title)
    return figure


def compilers(frame: pd.DataFrame):
    """The race of the same header compiled by Cling and by g++: every repeat, and medians.

    Args:
        frame: of `rungs.measure.race.race`, with racers "Cling" and "g++" and a column `mask`.
    """
    figure, axes = style.axes(height=3.2)
    rates = frame.assign(rate=frame["plies"] / frame["seconds"] / 1e6)
    groups = list(rates.groupby(["mask", "racer"], sort=False)["rate"])
    for i, ((_, racer), rate) in enumerate(groups):
        color = style.BLUE if racer == "Cling" else style.ORANGE
        axes.barh(i, rate.median(), color=color, alpha=0.5)
        axes.plot(rate, np.full(len(rate), i), "o", color=color, markersize=4)
    axes.set_yticks(range(len(groups)), [f"{racer}, {mask} mask" for (mask, racer), _ in groups])
    axes.invert_yaxis()
    axes.set_xlabel("million plies per second (dots: repeats, bars: medians)")
    axes.set_title("One header, two compilers")
    return figure


def bitboards(boards: dict[str, int]):
    """Bitboards side by side, rank 8 on top.

    Args:
        boards: 64-bit sets of squares by title.
    """
    figure, axes = style.axes(2.1 * len(boards), 2.5, ncols=len(boards), squeeze=False)
    for each, (title, bits) in zip(axes[0], boards.items(), strict=True):
        for square in range(64):
            corner = (square % 8, square // 8)
            dark = (square % 8 + square // 8) % 2 == 0
            shade = "#D9D9D9" if dark else "#F5F5F5"
            each.add_patch(matplotlib.patches.Rectangle(corner, 1, 1, color=shade))
            if int(bits) >> square & 1:
                centre = (corner[0] + 0.5, corner[1] + 0.5)
                each.add_patch(matplotlib.patches.Circle(centre, 0.33, color=style.BLUE))
        each.set(xlim=(0, 8), ylim=(0, 8), aspect="equal")
        each.set_xticks(np.arange(8) + 0.5, "abcdefgh", fontsize=7)
        each.set_yticks(np.arange(8) + 0.5, range(1, 9), fontsize=7)
        each.tick_params(length=0)
        each.set_title(title, fontsize=9)
        each.spines[:].set_visible(False)
    return figure
