"""How all figures look: seaborn's theme and its palette for any colour vision, light grid."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import matplotlib.patches
import matplotlib.pyplot as plt
import seaborn

# Told apart by people of any colour vision: Okabe and Ito's colours, as seaborn has them.
_PALETTE = seaborn.color_palette("colorblind").as_hex()
BLUE, ORANGE, GREEN, RED, PINK, BROWN, _, GREY, _, SKY = _PALETTE
BLACK = "#000000"

# What tells areas apart without colour, and lines that have no markers.
HATCHES = ("", "///", "...", "xxx", "\\\\\\")
LINESTYLES = ("-", "-.", (0, (1, 1)), (0, (6, 1, 1, 1, 1, 1)), (0, (3, 3)))

# Lines in the order they are drawn.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p", "h")
# The last three are Paul Tol's, for figures with more lines than Okabe and Ito have colours.
COLORS = (BLUE, ORANGE, GREEN, RED, PINK, BROWN, BLACK, GREY, SKY, "#332288", "#882255", "#999933")

# Lines of seaborn through repeats: their medians, and the band between their quartiles.
MEDIANS = {"estimator": "median", "errorbar": ("pi", 50)}


def theme():
    """Returns the theme, for a `with` around what makes axes without `axes`."""
    return seaborn.axes_style("ticks", {"axes.grid": True, "grid.color": "#EEEEEE"})


def axes(width: float = 7.0, height: float = 4.0, **settings):
    """Makes a figure and its axes (an array, with `nrows` or `ncols`) in the common style."""
    with theme():
        figure, result = plt.subplots(figsize=(width, height), layout="constrained", **settings)
    seaborn.despine(figure)
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


def legend_beside(axes) -> None:
    """Names the lines to the right of the axes, where none runs through the names."""
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)


def median_line(axes, groups, label: str, look: dict) -> None:
    """Draws the medians of groups over what they are grouped by, and their quartiles as a band."""
    repeats = groups.apply(list).explode()
    values = {"x": repeats.index.to_list(), "y": repeats.to_list()}
    look = {"label": label, "legend": False, "markeredgewidth": 0} | look
    seaborn.lineplot(**values, ax=axes, **MEDIANS, **look)


def band_line(axes, rows, x: str, y: str, label: str | None, look: dict) -> None:
    """Draws a column of a frame over another, and the band from its `low` to its `high`."""
    axes.plot(rows[x], rows[y], label=label, **look)
    axes.fill_between(rows[x], rows["low"], rows["high"], color=look["color"], alpha=0.2)


def numbers_below(axes, things: str) -> None:
    """Puts numbers of things, in powers of two, below the horizontal axis."""
    axes.set_xscale("log", base=2)
    axes.set_xlabel(things)


def boards_below(axes) -> None:
    """Puts numbers of boards below the horizontal axis, and the lines' names."""
    numbers_below(axes, "boards")
    axes.legend(frameon=False)


def training_below(figure, axes, over: str) -> None:
    """Puts what was trained for, "steps" or "seconds", below the axis, and the lines' names."""
    axes.set_xlim(0, None)
    axes.set_xlabel({"steps": "steps played", "seconds": "seconds of training"}[over])
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
