"""How all figures look: one size, one palette that reads without colour vision, light grid."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import matplotlib.patches
import matplotlib.pyplot as plt

from rungs.measure.quartiles import quartiles

# Okabe and Ito's colours, told apart by people of any colour vision and by their lightness.
BLUE, SKY, ORANGE, GREY, BLACK = "#0072B2", "#56B4E9", "#E69F00", "#BBBBBB", "#000000"

# What tells areas apart without colour, and lines that have no markers.
HATCHES = ("", "///", "...", "xxx", "\\\\\\")
LINESTYLES = ("-", "-.", (0, (1, 1)), (0, (6, 1, 1, 1, 1, 1)), (0, (3, 3)))

# Lines in the order they are drawn.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<")
COLORS = (BLUE, ORANGE, SKY, GREY, BLACK, "#009E73", "#CC79A7", "#D55E00", "#882255")


def axes(width: float = 7.0, height: float = 4.0, **settings):
    """Makes a figure and its axes (an array, with `nrows` or `ncols`) in the common style."""
    figure, result = plt.subplots(figsize=(width, height), layout="constrained", **settings)
    for each in figure.axes:
        each.spines[["top", "right"]].set_visible(False)
        each.set_axisbelow(True)
    plt.close(figure)  # shown where a cell returns it, and only there
    return figure, result


def lines(groups: Iterable[tuple[Any, Any]]) -> Iterator[tuple[Any, Any, dict]]:
    """Yields the groups of a frame, each with a marker and colour for its line, its own pair."""
    for i, (name, rows) in enumerate(groups):
        lap = i // len(COLORS)  # markers move on when colours begin again
        marker, color = MARKERS[(i + lap) % len(MARKERS)], COLORS[i % len(COLORS)]
        yield name, rows, {"marker": marker, "color": color}


def fills(names: Sequence[str], colors: Sequence[str]) -> dict[str, dict]:
    """Returns the look of some areas, and of their patches in a legend: colour and hatch."""
    return {
        name: {"facecolor": color, "hatch": hatch, "hatchcolor": BLACK, "edgecolor": "white"}
        for name, color, hatch in zip(names, colors, HATCHES[: len(names)], strict=True)
    }


def legend_below(figure, looks: dict[str, dict], columns: int) -> None:
    """Names the areas of a figure below it; `looks` is of `fills`."""
    handles = [matplotlib.patches.Patch(label=name, **look) for name, look in looks.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False)


def median_line(axes, groups, label: str, look: dict) -> None:
    """Draws the medians of groups over what they are grouped by, and their quartiles as a band."""
    spread = quartiles(groups)
    axes.plot(spread.index, spread["median"], label=label, **look)
    axes.fill_between(spread.index, spread["low"], spread["high"], color=look["color"], alpha=0.2)


def numbers_below(axes, things: str) -> None:
    """Puts numbers of things, in powers of two, below the horizontal axis."""
    axes.set_xscale("log", base=2)
    axes.set_xlabel(things)
    axes.grid(color="#EEEEEE")


def boards_below(axes) -> None:
    """Puts numbers of boards below the horizontal axis, and the lines' names."""
    numbers_below(axes, "boards")
    axes.legend(frameon=False)


def training_below(figure, axes, over: str) -> None:
    """Puts what was trained for, "steps" or "seconds", below the axis, and the lines' names."""
    axes.set_xlim(0, None)
    axes.set_xlabel({"steps": "steps played", "seconds": "seconds of training"}[over])
    axes.grid(color="#EEEEEE")
    figure.legend(loc="outside lower center", ncols=3, frameon=False)


def speed(value: float) -> str:
    """Writes a rate in plies per second as a person would say it: "9.3 k/s", "4.85 M/s"."""
    for scale, suffix in ((1e9, " G/s"), (1e6, " M/s"), (1e3, " k/s")):
        if value >= scale:
            return f"{value / scale:.3g}{suffix}"
    return f"{value:.3g}/s"


def ratio(value: float) -> str:
    """Writes a factor: "1.49×", "774×", "12,300×"."""
    return f"{value:.3g}×" if value < 1000 else f"{value:,.0f}×"


def duration(seconds: float) -> str:
    """Writes a time with the unit that suits it: "43 ms", "110 µs"."""
    for scale, suffix in ((1, " s"), (1e-3, " ms"), (1e-6, " µs")):
        if seconds >= scale:
            return f"{seconds / scale:.3g}{suffix}"
    return f"{seconds / 1e-9:.3g} ns"
