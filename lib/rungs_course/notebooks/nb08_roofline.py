"""The roofline: this machine's roofs, rungs below them, the study's, and products of matrices."""

from collections.abc import Sequence

import ipywidgets
import numpy as np
import pandas as pd

from rungs_course import plots
from rungs_course.machine.roofline import Processor, attainable, ridge
from rungs_course.measure.over_boards import one_point
from rungs_course.widgets import WHOLE_LABEL, predict_first, rung_controls

_DISTINCT = 1.25  # how many times memory's bandwidth a cache has at least that is drawn


def roofs(compute: pd.DataFrame, bandwidth: pd.DataFrame, threads: int) -> tuple[dict, dict]:
    """Returns what `roofline` draws as bounds for programs of integers: the best of all repeats.

    A disturbance can only lower what was measured, and a bound is what can be done at most. Returns
    operations per second by name, and bytes per second by level, of the fastest stream. A last
    cache that is hardly faster than memory is one with it: "beyond L2".
    """
    measured = compute[compute["threads"] == threads].groupby("peak")["per_second"].max()
    moved = bandwidth[bandwidth["threads"] == threads].groupby("level", sort=False)
    slopes = moved["per_second"].max().to_dict()
    if {"L2", "L3", "memory"} <= slopes.keys() and slopes["L3"] < _DISTINCT * slopes["memory"]:
        slopes["beyond L2"] = max(slopes.pop("L3"), slopes.pop("memory"))
    names = ("64-bit integers, vectors", "64-bit integers")
    return {name: measured[name] for name in names}, slopes


def point(name: str, work: dict[str, float], plies_per_second: float) -> dict:
    """Returns a program as `roofline` draws it: `name`, `intensity`, `performance`."""
    intensity = work["operations"] / work["bytes"]
    performance = work["operations"] * plies_per_second
    return {"name": name, "intensity": intensity, "performance": performance}


def below(points: pd.DataFrame, threads: int) -> pd.DataFrame:
    """Returns the points of programs on one thread (those of `cpp`), or on several."""
    return points[points["name"].str.startswith("cpp") == (threads == 1)]


def shares(row, compute: pd.DataFrame, bandwidth: pd.DataFrame, cores: int) -> dict[str, float]:
    """Returns which shares of its roofs a program reaches: of the vector peak by its operations,
    and of each level's bandwidth by its bytes.
    """
    vectors, slopes = roofs(compute, bandwidth, 1 if row.name.startswith("cpp") else cores)
    moved = row.performance / row.intensity
    of_levels = {f"{level}'s bandwidth": moved / slope for level, slope in slopes.items()}
    return {"the vector peak": row.performance / max(vectors.values())} | of_levels


def rooflines(compute: pd.DataFrame, bandwidth: pd.DataFrame, points: pd.DataFrame, cores: int):
    """Draws programs under the roofs of as many cores as they use: of one, and of all."""
    counts = sorted({1, cores})
    size = {"width": 1 + 4.5 * len(counts), "height": 4.6}
    figure, panels = plots.axes(**size, ncols=len(counts), squeeze=False, sharey=True)
    for axes, threads in zip(panels[0], counts, strict=True):
        title = "One core" if threads == 1 else f"{threads} cores"
        bounds = roofs(compute, bandwidth, threads)
        roofline(*bounds, below(points, threads), title=title, axes=axes)
    return figure


def roofline(
    peaks: dict[str, float],
    bandwidths: dict[str, float],
    points: pd.DataFrame,
    *,
    title: str,
    guess: tuple[float, float] | None = None,
    axes=None,
):
    """Draws bounds on operations per second over operational intensity, and programs below them.

    `peaks` (operations per second) are level roofs; `bandwidths` (bytes per second) slope up to the
    highest. A point has `name`, `intensity` (operations per byte) and `performance` (operations per
    second); `guess` is the last two.
    """
    axes = axes or plots.axes(height=4.6)[1]
    top, fastest = max(peaks.values()), max(bandwidths.values())
    intensities = [*points["intensity"], *(guess or ())[:1]]
    low = min([ridge(min(peaks.values()), fastest), *intensities]) / 3
    high = max([ridge(top, min(bandwidths.values())), *intensities]) * 3
    intensity = np.geomspace(low, high, 400)
    for (name, bandwidth), line in zip(bandwidths.items(), plots.LINESTYLES, strict=False):
        rising = intensity[intensity <= ridge(top, bandwidth)]
        look = {
            "color": plots.GREY,
            "linestyle": line,
            "label": f"{name}, {bandwidth / 1e9:,.0f} GB/s",
        }
        axes.plot(rising, attainable(rising, top, bandwidth) / 1e9, **look)
    for (name, peak), line in zip(peaks.items(), plots.LINESTYLES, strict=False):
        flat = intensity[intensity >= ridge(peak, fastest)]
        look = {
            "color": plots.BLACK,
            "linestyle": line,
            "label": f"{name}, {peak / 1e9:,.0f} Gop/s",
        }
        axes.plot(flat, np.full(len(flat), peak / 1e9), **look)
    for row, marker, color in zip(points.itertuples(), plots.MARKERS, plots.COLORS, strict=False):
        label = f"{row.name}, {row.performance / 1e9:,.3g} Gop/s"
        at = (row.intensity, row.performance / 1e9)
        axes.plot(*at, marker, color=color, markersize=8, label=label)
    if guess:
        at = (guess[0], guess[1] / 1e9)
        axes.plot(*at, "D", markerfacecolor="white", color=plots.BLACK, label="your guess")
    below_axes = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.16), "frameon": False}
    axes.legend(**below_axes, fontsize="small", ncols=2)
    axes.set(xscale="log", yscale="log", title=title)
    if axes.get_subplotspec().is_first_col():
        axes.set_ylabel("Gop/s")
    axes.set_xlabel("operational intensity: operations per byte")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:g}")
    return axes.figure


def study_rooflines(processors: Sequence[tuple[Processor, Processor]], points: pd.DataFrame):
    """Draws the study's two rooflines, of each processor as printed and corrected, with its points,
    as it drew them and counted in bytes.
    """
    figure, panels = plots.axes(width=8.0, height=4.6, ncols=len(processors), sharey=True)
    intensity = np.geomspace(0.02, 300, 400)
    colors = dict(zip(points["name"].unique(), plots.COLORS, strict=False))
    markers = dict(zip(points["per"].unique(), plots.MARKERS, strict=False))
    for axes, (printed, corrected) in zip(panels, processors, strict=True):
        roofs_of = {"the study's roofs": (printed, "-"), "corrected roofs": (corrected, "--")}
        for label, (processor, line) in roofs_of.items():
            roof = attainable(intensity, processor.peak_flops(64), processor.peak_bandwidth())
            axes.plot(intensity, roof / 1e9, line, color=plots.BLACK, linewidth=1.2, label=label)
        for row in points.itertuples():
            look = {"color": colors[row.name], "label": f"{row.name}, per {row.per}"}
            axes.plot(row.intensity, row.performance / 1e9, markers[row.per], **look)
        axes.set(xscale="log", yscale="log", title=printed.name)
        axes.set_xlabel("operations per access, or per byte")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter("{x:,g}")
    panels[0].set_ylabel("Gop/s (the study: Gflop/s)")
    names = axes.get_legend_handles_labels()
    look = {"ncols": 3, "frameon": False, "fontsize": "small"}
    figure.legend(*names, loc="outside lower center", **look)
    return figure


def predict_roofline(
    compute: pd.DataFrame,
    bandwidth: pd.DataFrame,
    points: pd.DataFrame,
    work: dict[str, dict],
    cores: int,
    *,
    seed: int,
    api,
) -> ipywidgets.VBox:
    """Asks how many operations a second a rung of the reader's choice does; `work` is empty where
    there is no valgrind.
    """

    def draw(choice, guess, rate):
        used = 1 if choice["rung"] == "cpp" else min(choice["threads"], cores)
        bounds = roofs(compute, bandwidth, used)
        visible = below(points, used)
        if not work:
            return roofline(*bounds, visible, title="No valgrind: nothing to place")
        now = point("measured now", work[choice["mask"]], rate or 0)
        visible = pd.DataFrame([*visible.to_dict("records"), now]) if rate else visible
        expected = (now["intensity"], guess * 1e9)
        title = f"Predict, then measure: the roofs of {used} core{'s' if used > 1 else ''}"
        return roofline(*bounds, visible, title=title, guess=expected)

    def measure(choice):
        rate, _ = one_point(**choice, seed=seed, api=api)
        return rate

    masks = ipywidgets.ToggleButtons(options=["bits", "bool"], description="mask")
    controls = rung_controls(sorted({1, cores, 2 * cores}), ("threads", "cpp", "openmp"))
    controls["mask"] = masks
    guess = ipywidgets.BoundedFloatText(
        10.0, min=0.001, max=1e6, description="guess, Gop/s", style=WHOLE_LABEL
    )
    return predict_first(draw, measure, controls, guess)


def draw_products(table: pd.DataFrame):
    """Draws which share of the peak each version of a product reaches, here and in the slides, from
    the columns "% of peak" and "slides: % of peak".
    """
    figure, axes = plots.axes(8.0, 1.2 + 0.4 * len(table))
    published = table["slides: % of peak"]
    for share, marker, color, label in (
        (published.where(published > 0), "D", plots.ORANGE, "the slides"),
        (table["% of peak"], "o", plots.BLUE, "here"),
    ):
        axes.plot(share, range(len(table)), marker, color=color, label=label)
    axes.axvline(100, color=plots.BLACK, linestyle="--", zorder=0)
    axes.set_yticks(range(len(table)), table.index)
    axes.set_ylim(len(table) - 0.4, -0.6)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlabel("share of the peak, % (logarithmic)")
    axes.set_title("Products of matrices below the peak")
    plots.legend_beside(axes)
    return figure
