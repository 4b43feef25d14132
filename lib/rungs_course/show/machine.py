"""Figures of what the machine can do, and of how rungs scale on it."""

import matplotlib.ticker
import numpy as np
import pandas as pd
import seaborn

from rungs._src.core.memory import CACHE_LINE
from rungs_course.machine.roofline import attainable, ridge
from rungs_course.measure.quartiles import quartiles
from rungs_course.show import style
from rungs_course.studies.scaling import efficiencies, predicted, serial_fraction


def roofs(compute: pd.DataFrame, bandwidth: pd.DataFrame, threads: int) -> tuple[dict, dict]:
    """Returns what `roofline` draws as bounds for programs of integers: the best of all repeats.

    A disturbance can only lower what was measured, and a bound is what can be done at most.

    Args:
        compute: of `rungs_course.measure.peaks.measure_compute`.
        bandwidth: of `rungs_course.measure.peaks.measure_bandwidth`.
        threads: how many, a number that both have measured.

    Returns:
        Operations per second by name, and bytes read per second by level.
    """
    measured = compute[compute["threads"] == threads].groupby("peak")["per_second"].max()
    read = bandwidth[(bandwidth["threads"] == threads) & (bandwidth["stream"] == "read")]
    names = ("64-bit integers, vectors", "64-bit integers")
    on = "1 core" if threads == 1 else f"{threads} cores"
    return (
        {f"{name}, {on}": measured[name] for name in names},
        read.groupby("level", sort=False)["per_second"].max().to_dict(),
    )


def point(name: str, work: dict[str, float], plies_per_second: float) -> dict:
    """Returns a program as `roofline` draws it: `name`, `intensity`, `performance`.

    Args:
        name: the program's.
        work: of `rungs_course.measure.valgrind.work_per_ply`.
        plies_per_second: how fast it was.
    """
    intensity = work["operations"] / work["bytes"]
    performance = work["operations"] * plies_per_second
    return {"name": name, "intensity": intensity, "performance": performance}


def below(points: pd.DataFrame, threads: int) -> pd.DataFrame:
    """Returns the points of programs on one thread, which `cpp` has, or on several."""
    return points[points["name"].str.startswith("cpp") == (threads == 1)]


def shares(row, compute: pd.DataFrame, bandwidth: pd.DataFrame, cores: int) -> dict[str, float]:
    """Returns which shares of its roofs a program reaches.

    Args:
        row: of `point`.
        compute, bandwidth, cores: as of `rooflines`.

    Returns:
        Of the vector peak by its operations, and of each level's bandwidth by its bytes.
    """
    vectors, slopes = roofs(compute, bandwidth, 1 if row.name.startswith("cpp") else cores)
    moved = row.performance / row.intensity
    of_levels = {f"{level}'s bandwidth": moved / slope for level, slope in slopes.items()}
    return {"the vector peak": row.performance / max(vectors.values())} | of_levels


def rooflines(compute: pd.DataFrame, bandwidth: pd.DataFrame, points: pd.DataFrame, cores: int):
    """Draws programs under the roofs of as many cores as they use: of one, and below it of all.

    Args:
        compute: of `rungs_course.measure.peaks.measure_compute`.
        bandwidth: of `rungs_course.measure.peaks.measure_bandwidth`.
        points: rows of `point`, of `cpp` and of `openmp`.
        cores: all.
    """
    counts = sorted({1, cores})
    height = 4.0 * len(counts)
    figure, axes = style.axes(height=height, nrows=len(counts), squeeze=False)
    for each, threads in zip(axes[:, 0], counts, strict=True):
        under = below(points, threads)
        _roofline(each, *roofs(compute, bandwidth, threads), under, "Gop/s", None)
        each.set_title("One core" if threads == 1 else f"{threads} cores")
    return figure


def roofline(
    peaks: dict[str, float],
    bandwidths: dict[str, float],
    points: pd.DataFrame,
    *,
    title: str,
    unit: str = "Gop/s",
    guess: tuple[float, float] | None = None,
):
    """Bounds on operations per second over operational intensity, and programs beneath them.

    Args:
        peaks: operations per second by name, drawn as level roofs.
        bandwidths: bytes per second by name, drawn as sloping roofs up to the highest peak.
        points: a row per program: `name`, `intensity` (operations per byte), `performance`
            (operations per second).
        title: the figure's.
        unit: of 1e9 operations per second.
        guess: an intensity and a performance that someone expects.
    """
    figure, axes = style.axes(height=4.4)
    _roofline(axes, peaks, bandwidths, points, unit, guess)
    axes.set_title(title)
    return figure


def _roofline(axes, peaks, bandwidths, points: pd.DataFrame, unit: str, guess) -> None:
    top, fastest = max(peaks.values()), max(bandwidths.values())
    slowest = min(bandwidths.values())
    low = min(ridge(min(peaks.values()), fastest), points["intensity"].min(), 1) / 6
    high = max(ridge(top, slowest), points["intensity"].max()) * 6
    intensity = np.geomspace(low, high, 400)
    for name, bandwidth in bandwidths.items():
        rising = intensity[intensity <= ridge(top, bandwidth)]
        axes.plot(rising, attainable(rising, top, bandwidth) / 1e9, color=style.GREY, linewidth=1.5)
        axes.annotate(
            f"{name}, {bandwidth / 1e9:,.0f} GB/s",
            (low, low * bandwidth / 1e9),
            (3, 4),
            textcoords="offset points",
            fontsize="x-small",
            va="center",
            bbox={"facecolor": "white", "linewidth": 0, "pad": 0.5},
        )
    for name, peak in peaks.items():
        flat = intensity[intensity >= ridge(peak, fastest)]
        axes.plot(flat, np.full(len(flat), peak / 1e9), color=style.BLACK, linewidth=1.5)
        text = f"{name}, {peak / 1e9:,.0f} {unit}"
        above = {"textcoords": "offset points", "ha": "right", "va": "bottom"}
        axes.annotate(text, (high, peak / 1e9), (0, 2), fontsize="x-small", **above)
    for row, marker, color in zip(points.itertuples(), style.MARKERS, style.COLORS, strict=False):
        label = f"{row.name}, {row.performance / 1e9:,.3g} {unit}"
        at = (row.intensity, row.performance / 1e9)
        axes.plot(*at, marker, color=color, markersize=8, label=label)
    if guess:
        at = (guess[0], guess[1] / 1e9)
        axes.plot(*at, "D", markerfacecolor="white", color=style.BLACK, label="your guess")
    if len(points) or guess:
        # Beside the axes: below the roofs, points may be anywhere.
        axes.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("operational intensity: operations per byte")
    axes.set_ylabel(unit)
    axes.grid(color="#EEEEEE")


def scaling(
    times: pd.DataFrame,
    cores: int,
    *,
    law: str,
    serial: float,
    paper: pd.DataFrame | None = None,
    guess: tuple[int, float] | None = None,
    measured: tuple[int, float] | None = None,
):
    """Draws speedup over threads, with its spread, its law, and the paper's whole curve beside it.

    Beside the paper's, both axes are logarithmic: it goes much further than a small machine.

    Args:
        times: of `rungs_course.studies.scaling.strong` or `weak`.
        cores: how many there are; beyond them the background is shaded and markers are hollow.
        law: "Amdahl" or "Gustafson", drawn with `serial` as its serial fraction where that is below
            one: beyond, no fraction describes the times.
        serial: that fraction.
        paper: `threads`, `boards` and `speedup` of the study, to which the law is fitted as well.
        guess: threads, and the speedup that someone expects.
        measured: threads, and a speedup measured just now.
    """
    figure, axes = style.axes(height=4.0)
    groups = efficiencies(times).groupby("threads")["speedup"]
    low, middle, high = (part for _, part in quartiles(groups).items())
    threads = middle.index.to_numpy()
    last = threads.max()
    line = np.linspace(1, last, 200)
    most = last if paper is None else max(last, paper["threads"].max())
    axes.plot([1, most], [1, most], color=style.BLACK, linestyle="--", linewidth=1)
    axes.annotate("ideal", (most, most), ha="right", va="bottom", fontsize="small")
    if serial < 1:
        label = f"{law}'s law for ours, serial fraction {serial:.1%}"
        axes.plot(line, predicted(law, serial, line), "-.", color=style.GREY, label=label)
    axes.fill_between(threads, low, high, color=style.BLUE, alpha=0.2)
    ours = {"color": style.BLUE, "marker": "o", "zorder": 3}
    axes.plot(threads, middle, label="ours, median and quartiles", **ours)
    beyond = threads > cores
    hollow = {"markerfacecolor": "white", "linestyle": "none"}
    axes.plot(threads[beyond], middle[beyond], **ours, **hollow)
    if paper is not None:
        _paper(axes, paper, law)
    if guess:
        axes.plot(*guess, "D", markerfacecolor="white", color=style.BLACK, label="your guess")
    if measured:
        axes.plot(*measured, "*", color=style.BLACK, markersize=12, label="measured now")
    if last > cores:
        axes.axvspan(cores, last, color="#F4F4F4", zorder=0)
        axes.annotate(
            "oversubscribed: more threads than cores",
            (cores, 0),
            (4, 4),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            fontsize="x-small",
        )
    if paper is None:
        axes.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(integer=True))
        axes.set_ylim(0, None)
    axes.set_xlabel("threads")
    axes.set_ylabel("times the work of one thread")
    axes.grid(color="#EEEEEE")
    axes.legend(frameon=False, fontsize="small", loc="upper left")
    kind = "the same boards for all" if law == "Amdahl" else "boards grow with threads"
    axes.set_title(f"{'Strong' if law == 'Amdahl' else 'Weak'} scaling: {kind}")
    return figure


def _paper(axes, paper: pd.DataFrame, law: str) -> None:
    """Draws the study's whole curve and the law that fits it, on axes that double."""
    serial = paper_fraction(paper, law)
    count = np.geomspace(1, paper["threads"].max(), 200)
    label = f"{law}'s law for the study's, {serial:.1%}"
    axes.plot(count, predicted(law, serial, count), ":", color=style.ORANGE, label=label)
    how = {"marker": "s", "color": style.ORANGE, "label": "the study's, its own cores"}
    seaborn.lineplot(data=paper, x="threads", y="speedup", ax=axes, **how)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(matplotlib.ticker.StrMethodFormatter("{x:g}"))


def paper_fraction(paper: pd.DataFrame, law: str) -> float:
    """Returns the serial fraction that fits the study's whole curve best.

    Args:
        paper: `threads`, `boards` and `speedup`, beginning with one thread.
        law: "Amdahl" or "Gustafson".
    """
    work = paper["boards"] / paper["boards"].iloc[0]
    times = paper.assign(num_envs=paper["boards"], repeat=0, seconds=work / paper["speedup"])
    return serial_fraction(times, law).iloc[0]


def lost(table: pd.DataFrame):
    """Draws the time that a step loses on several threads: repeats, and their medians.

    Args:
        table: of `rungs_course.studies.scaling.lost`, with a column `mask` beside.
    """
    figure, axes = style.axes(height=3.6)
    shown = table.assign(lost=table["lost"] * 1e6)
    at = {"data": shown, "x": "num_envs", "y": "lost", "hue": "mask"}
    palette = {"palette": style.COLORS[: shown["mask"].nunique()]}
    seaborn.stripplot(**at, **palette, dodge=True, alpha=0.6, legend=False, ax=axes)
    bars = {"errorbar": None, "linestyle": "none", "marker": "_", "markersize": 20}
    seaborn.pointplot(**at, **palette, estimator="median", dodge=0.4, **bars, ax=axes)
    axes.axhline(0, color=style.BLACK, linewidth=1)
    axes.set_xlabel("boards")
    axes.set_ylabel("microseconds lost, a step")
    axes.get_legend().remove()
    figure.legend(frameon=False, title="mask", loc="outside right upper")
    axes.set_title("What a step takes beyond its share of one thread's time")
    return figure


def over_boards(times: pd.DataFrame, bytes_per_board: int, caches: dict[str, int]):
    """Draws plies per second over the number of boards, one line per rung.

    Args:
        times: of `rungs_course.studies.scaling.over_boards`.
        bytes_per_board: state and outputs of a board of the C++ rungs.
        caches: bytes by name; where the boards outgrow one, a line says so.
    """
    figure, axes = style.axes(height=4.2)
    for rung, rows, look in style.lines(times.groupby("rung", sort=False)):
        groups = rows.assign(rate=rows["num_envs"] / rows["seconds"]).groupby("num_envs")["rate"]
        style.median_line(axes, groups, rung, look)
    for name, size in caches.items():
        boards = size / bytes_per_board
        axes.axvline(boards, color=style.BLACK, linestyle=":", linewidth=1)
        axes.annotate(
            f"{name} full",
            (boards, 0.02),
            (2, 0),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            rotation=90,
            fontsize="x-small",
        )
    axes.set_yscale("log")
    axes.set_ylabel("plies per second")
    style.boards_below(axes)
    axes.set_title("Rungs over the number of boards")
    return figure


def misses(counts: pd.DataFrame, board_bytes: int, study: float):
    """Draws cache misses per ply over the number of boards, a line per level.

    Args:
        counts: columns `boards`, `count` (of which "L1 misses" and the like are drawn), `per ply`.
        board_bytes: state and outputs of a board.
        study: the study's misses of L1 per board.
    """
    figure, axes = style.axes(height=3.6)
    drawn = counts[counts["count"].str.fullmatch(r"L\d misses")]
    for name, rows, look in style.lines(drawn.groupby("count")):
        axes.plot(rows["boards"], rows["per ply"], label=name, **look)
    lines = board_bytes / CACHE_LINE
    axes.axhline(lines, color=style.BLACK, linestyle="--", linewidth=1)
    text = f"all of a board, {lines:.0f} lines of {CACHE_LINE} bytes"
    axes.annotate(text, (drawn["boards"].min(), lines), fontsize="small", va="bottom")
    axes.axhline(study, color=style.ORANGE, linestyle=":", label="L1 misses of the study")
    axes.set_ylim(0, None)
    axes.set_ylabel("misses per ply (simulated)")
    style.boards_below(axes)
    axes.set_title("Which cache a step misses")
    return figure
