"""Scaling: speedups of threads, what two caches gain, laws, and figures of all."""

import ipywidgets
import matplotlib.ticker
import numpy as np
import pandas as pd

from rungs_course import plots
from rungs_course.measure.over_boards import one_point
from rungs_course.measure.quartiles import quartiles
from rungs_course.widgets import predict_first, rung_controls

_TITLES = {
    "Amdahl": "Strong scaling: the same boards for all",
    "Gustafson": "Weak scaling: boards grow with threads",
}


def speedups(times: pd.DataFrame) -> pd.DataFrame:
    """Returns how many times the work of one thread is done in the same time, repeat by repeat.

    With the same boards for all, that is T(1) / T(p); with boards that grow with the threads,
    p T(1) / T(p). A row per number of threads and repeat: `threads`, `repeat`, `speedup`.
    """
    wide = times.pivot(index="repeat", columns="threads", values="seconds")
    boards = times.groupby("threads")["num_envs"].first()
    speedup = wide.rdiv(wide[1], axis=0) * boards / boards[1]
    return speedup.melt(ignore_index=False, value_name="speedup").reset_index()


def lost(times: pd.DataFrame) -> pd.DataFrame:
    """Returns the time that a step takes beyond an equal share of one thread's, repeat by repeat.

    A row per number of threads above one, mask, number of boards and repeat: `threads`,
    `num_envs`, `repeat`, `lost` (seconds per step), `alone` (seconds of one thread's), `mask`.
    """
    keys = ["mask", "num_envs", "repeat"]
    alone = times[times["threads"] == 1].set_index(keys)["seconds"].rename("alone")
    several = times[times["threads"] > 1].join(alone, on=keys)
    several["lost"] = several["seconds"] - several["alone"] / several["threads"]
    return several[["threads", *keys[1:], "lost", "alone", "mask"]].reset_index(drop=True)


def predicted(law: str, serial: float, threads) -> np.ndarray:
    """Returns the speedup that a law gives for some numbers of threads."""
    p = np.asarray(threads, float)
    if law == "Amdahl":
        return 1 / (serial + (1 - serial) / p)
    return p - serial * (p - 1)


def draw_scaling(
    times: pd.DataFrame,
    cores: int,
    *,
    law: str = "Amdahl",
    paper: pd.DataFrame | None = None,
    serial: float = 0.0,
    guess: tuple[int, float] | None = None,
    measured: tuple[int, float] | None = None,
):
    """Draws speedup over threads, with its spread; next to it the study's curve, with the law of a
    serial fraction.

    Beyond `cores` the background is shaded and markers are hollow. `guess` and `measured` are
    threads and a speedup.
    """
    width, columns = (7.0, 1) if paper is None else (9.0, 2)
    figure, panels = plots.axes(width=width, height=4.0, ncols=columns, squeeze=False)
    axes, *others = panels[0]
    table = quartiles(speedups(times).groupby("threads")["speedup"], "speedup").reset_index()
    last = table["threads"].max()
    look = {"color": plots.BLUE, "marker": "o", "zorder": 3}
    plots.band_line(axes, table, "threads", "speedup", "ours, median and quartiles", look)
    beyond = table[table["threads"] > cores]
    hollow = look | {"markerfacecolor": "white", "linestyle": "none"}
    axes.plot(beyond["threads"], beyond["speedup"], **hollow)
    if guess:
        axes.plot(*guess, "D", markerfacecolor="white", color=plots.BLACK, label="your guess")
    if measured:
        axes.plot(*measured, "*", color=plots.BLACK, markersize=12, label="measured now")
    if last > cores:
        axes.axvspan(cores, last, color="#F4F4F4", zorder=0)
        axes.annotate(
            "more threads than cores",
            (cores, 0),
            (4, 4),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            fontsize="x-small",
        )
    axes.set_title("This machine")
    for panel in others:
        _draw_paper(panel, paper, law, serial)
    ends = [last] if paper is None else [last, paper["threads"].max()]
    for panel, end in zip((axes, *others), ends, strict=True):
        panel.plot([1, end], [1, end], color=plots.BLACK, linestyle="--", linewidth=1)
        panel.annotate("ideal", (end, end), ha="right", va="bottom", fontsize="small")
        panel.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(integer=True))
        panel.set_ylim(0, None)
        panel.set(xlabel="threads", ylabel="times the work of one thread")
        panel.legend(frameon=False, fontsize="small", loc="upper left")
    figure.suptitle(_TITLES[law])
    return figure


def _draw_paper(axes, paper: pd.DataFrame, law: str, serial: float) -> None:
    """Draws the study's whole curve, and the law that fits it."""
    count = np.linspace(1, paper["threads"].max(), 200)
    label = f"{law}'s law, serial fraction {serial:.1%}"
    axes.plot(count, predicted(law, serial, count), ":", color=plots.ORANGE, label=label)
    look = {"marker": "s", "color": plots.ORANGE, "label": "the study's speedup"}
    axes.plot(paper["threads"], paper["speedup"], **look)
    axes.set_title("The study's machine")


def draw_lost(table: pd.DataFrame):
    """Draws what one thread's step takes per board, and the speedup of two threads, over the number
    of boards, a line for each mask of `lost`.
    """
    figure, (left, right) = plots.axes(width=9.0, height=3.8, ncols=2)
    together = table["lost"] + table["alone"] / table["threads"]
    nanoseconds = table["alone"] / table["num_envs"] * 1e9
    rows = table.assign(nanoseconds=nanoseconds, speedup=table["alone"] / together)
    plots.median_lines(left, rows, "mask", "num_envs", "nanoseconds")
    plots.median_lines(right, rows, "mask", "num_envs", "speedup")
    right.axhline(2, color=plots.BLACK, linestyle="--", linewidth=1)
    left.set(title="One thread", ylabel="nanoseconds per board")
    right.set(title="Two threads", ylabel="times as fast as one")
    for axes in (left, right):
        plots.numbers_below(axes, "boards", rows["num_envs"])
        axes.set_ylim(0, None)
    left.legend(frameon=False, title="mask")
    figure.suptitle("What the second cache gains")
    return figure


def draw_over_boards(times: pd.DataFrame, bytes_per_board: int, caches: dict[str, int]):
    """Draws the rate of plies over the number of boards, a line for each `rung`; says where the
    boards outgrow a cache.
    """
    rates = times.assign(rate=times["num_envs"] / times["seconds"] / 1e6)
    title, rate = "Speed over the number of boards", "million plies per second"
    at = ("rung", "num_envs", "rate")
    figure = plots.medians(rates, *at, things="boards", quantity=rate, title=title, log=False)
    (axes,) = figure.axes
    for name, size in caches.items():
        boards = size / bytes_per_board
        axes.axvline(boards, color=plots.BLACK, linestyle=":", linewidth=1)
        axes.annotate(
            f"{name} full",
            (boards, 0.02),
            (2, 0),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            rotation=90,
            fontsize="x-small",
        )
    return figure


def predict_scaling(strong: pd.DataFrame, cores: int, *, seed: int) -> ipywidgets.VBox:
    """Asks how many times as fast as one thread a rung of the reader's choice is."""

    def draw(choice, guess, gain):
        point = (choice["threads"], gain) if gain else None
        return draw_scaling(strong, cores, guess=(choice["threads"], guess), measured=point)

    def measure(choice):
        _, gain = one_point(**choice, mask="bool", seed=seed)
        return gain

    guess = ipywidgets.BoundedFloatText(1.0, min=0.01, max=1000, step=0.1, description="guess, ×")
    return predict_first(draw, measure, rung_controls(strong["threads"].unique().tolist()), guess)
