"""Scaling: the same boards on more threads, more boards on more threads, and figures of both."""

import functools
from collections.abc import Iterable, Mapping
from typing import Any

import ipywidgets
import matplotlib.ticker
import numpy as np
import pandas as pd
import seaborn

import rungs
from rungs.chess import ChessRung, ChessVectorEnv
from rungs.devel.envs import MaskFormat
from rungs_course import plots
from rungs_course.measure.over_boards import one_point
from rungs_course.measure.quartiles import quartiles
from rungs_course.measure.race import race, segments, steps_of
from rungs_course.measure.turns import timed_rounds
from rungs_course.widgets import predict_first, rung_controls


def strong(
    num_envs: int,
    threads: Iterable[int],
    *,
    mask: MaskFormat,
    api=None,
    **settings,
) -> pd.DataFrame:
    """Races the same boards on several numbers of threads, one of which must be 1.

    Returns a row per number of threads and repeat: `threads`, `num_envs`, `repeat`, `seconds` per
    step of all boards.
    """
    racers = {count: _openmp(num_envs, count, mask, api) for count in threads}
    times = race(racers, rungs.make("chess", "cpp", num_envs, mask=mask), **settings)
    frame = times.rename(columns={"racer": "threads"}).assign(num_envs=num_envs)
    frame["seconds"] *= num_envs / frame["plies"]
    return frame[["threads", "num_envs", "repeat", "seconds"]]


def weak(
    boards_per_thread: int, threads: Iterable[int], *, mask: MaskFormat, steps: int, **timing
) -> pd.DataFrame:
    """Races boards that grow with the threads; numbers of threads take turns, by segments. Returns
    as `strong`.
    """
    envs = {count: (_openmp(count * boards_per_thread, count, mask), steps) for count in threads}
    rows = _step_times(envs, mask=mask, **timing)
    return pd.DataFrame(rows, columns=["threads", "num_envs", "repeat", "seconds"])


def over_boards(
    plies: dict[ChessRung, int],
    max_boards: dict[str, int],
    board_counts: Iterable[int],
    *,
    mask: MaskFormat,
    **timing,
) -> pd.DataFrame:
    """Races rungs over numbers of boards up to each one's maximum, each over about as many plies a
    segment as it can.

    Returns a row per rung, number of boards and repeat: `rung`, `num_envs`, `repeat`, `seconds` per
    step of all boards.
    """
    rows = []
    for num_envs in board_counts:
        envs = {
            rung: (rungs.make("chess", rung, num_envs, mask=mask), steps_of(count, num_envs))
            for rung, count in plies.items()
            if num_envs <= max_boards[rung]
        }
        rows += _step_times(envs, mask=mask, **timing)
    return pd.DataFrame(rows, columns=["rung", "num_envs", "repeat", "seconds"])


def _step_times(
    envs: Mapping[Any, tuple[ChessVectorEnv, int]],
    *,
    mask: MaskFormat,
    seed: int,
    repeats: int,
    warmup: int,
) -> list[tuple]:
    """Plays games of several environments, with steps per segment, in turns, and closes them;
    returns name, number of boards, repeat, and seconds per step of all boards.
    """
    races = {}
    for name, (env, steps) in envs.items():
        pilot = rungs.make("chess", "cpp", env.num_envs, mask=mask)
        races[name] = functools.partial(next, segments({name: env}, pilot, seed=seed, steps=steps))
    rows = [
        (name, envs[name][0].num_envs, repeat, taken[name] / envs[name][1])
        for name, repeat, taken in timed_rounds(races, repeats=repeats, warmup=warmup)
    ]
    for env, _ in envs.values():
        env.close()
    return rows


def _openmp(num_envs: int, threads: int, mask: MaskFormat, api=None):
    env_kwargs: dict[str, Any] = {"threads": threads, "mask": mask, "api": api}
    return rungs.make("chess", "openmp", num_envs, **env_kwargs)


def efficiencies(times: pd.DataFrame) -> pd.DataFrame:
    """Returns how well threads are used, repeat by repeat, against one thread.

    With the same boards for all, `speedup` is T(1) / T(p). With boards that grow with the threads
    it is p T(1) / T(p): how much more work is done in the same time. `efficiency` is speedup / p. A
    row per number of threads and repeat: `threads`, `repeat`, `speedup`, `efficiency`.
    """
    wide = times.pivot(index="repeat", columns="threads", values="seconds")
    boards = times.groupby("threads")["num_envs"].first()
    speedup = wide.rdiv(wide[1], axis=0) * boards / boards[1]
    long = speedup.melt(ignore_index=False, value_name="speedup").reset_index()
    return long.assign(efficiency=long["speedup"] / long["threads"])


def lost(times: pd.DataFrame) -> pd.DataFrame:
    """Returns the time that a step takes beyond an equal share of one thread's, repeat by repeat.

    A cost of the step itself (a call, waking threads, a barrier) is the same time whatever the
    boards; what threads take from each other while they step grows with the boards. A row per
    number of threads above one and repeat: `threads`, `num_envs`, `repeat`, `lost` (seconds per
    step), `alone` (seconds of one thread's step).
    """
    keys = ["num_envs", "repeat"]
    alone = times[times["threads"] == 1].set_index(keys)["seconds"].rename("alone")
    several = times[times["threads"] > 1].join(alone, on=keys)
    several["lost"] = several["seconds"] - several["alone"] / several["threads"]
    return several[["threads", *keys, "lost", "alone"]].reset_index(drop=True)


def serial_fraction(times: pd.DataFrame, law: str) -> pd.Series:
    """Fits the part of the work that threads can't share to the speedups, per repeat.

    Amdahl (same boards): S = 1 / (s + (1 - s) / p). Gustafson (boards grow): S = p - s (p - 1).
    Both are linear in s, once the first is inverted; s is fitted by least squares. Below 0 it means
    more speedup than threads, as caches can bring.
    """
    rows = efficiencies(times).query("threads > 1")
    p, speedup = rows["threads"], rows["speedup"]
    # Both: what is missing = s * weight.
    missing, weight = {
        "Amdahl": (1 / speedup - 1 / p, 1 - 1 / p),
        "Gustafson": (p - speedup, p - 1),
    }[law]
    above, below = (term.groupby(rows["repeat"]).sum() for term in (missing * weight, weight**2))
    return above / below


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
    law: str,
    serial: float,
    paper: pd.DataFrame | None = None,
    guess: tuple[int, float] | None = None,
    measured: tuple[int, float] | None = None,
):
    """Draws speedup over threads, with its spread, its law, and the study's whole curve.

    With the study's, both axes are logarithmic: it goes much further than a small machine. Beyond
    `cores` the background is shaded and markers are hollow. A law is drawn where its serial
    fraction is below one: beyond, no fraction describes the times. `guess` and `measured` are
    threads and a speedup.
    """
    figure, axes = plots.axes(height=4.0)
    speedups = quartiles(efficiencies(times).groupby("threads")["speedup"], "speedup").reset_index()
    last = speedups["threads"].max()
    end = last if paper is None else max(last, paper["threads"].max())
    axes.plot([1, end], [1, end], color=plots.BLACK, linestyle="--", linewidth=1)
    axes.annotate("ideal", (end, end), ha="right", va="bottom", fontsize="small")
    if serial < 1:
        line = np.linspace(1, last, 200)
        label = f"{law}'s law for ours, serial fraction {serial:.1%}"
        axes.plot(line, predicted(law, serial, line), "-.", color=plots.GREY, label=label)
    look = {"color": plots.BLUE, "marker": "o", "zorder": 3}
    plots.band_line(axes, speedups, "threads", "speedup", "ours, median and quartiles", look)
    beyond = speedups[speedups["threads"] > cores]
    hollow = look | {"markerfacecolor": "white", "linestyle": "none"}
    axes.plot(beyond["threads"], beyond["speedup"], **hollow)
    if paper is not None:
        _paper(axes, paper, law)
    if guess:
        axes.plot(*guess, "D", markerfacecolor="white", color=plots.BLACK, label="your guess")
    if measured:
        axes.plot(*measured, "*", color=plots.BLACK, markersize=12, label="measured now")
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
    axes.legend(frameon=False, fontsize="small", loc="upper left")
    kind = "the same boards for all" if law == "Amdahl" else "boards grow with threads"
    axes.set_title(f"{'Strong' if law == 'Amdahl' else 'Weak'} scaling: {kind}")
    return figure


def _paper(axes, paper: pd.DataFrame, law: str) -> None:
    """Draws the study's whole curve and the law that fits it, on axes in powers of two."""
    serial = paper_fraction(paper, law)
    count = np.geomspace(1, paper["threads"].max(), 200)
    label = f"{law}'s law for the study's, {serial:.1%}"
    axes.plot(count, predicted(law, serial, count), ":", color=plots.ORANGE, label=label)
    look = {"marker": "s", "color": plots.ORANGE, "label": "the study's, its own cores"}
    seaborn.lineplot(data=paper, x="threads", y="speedup", ax=axes, **look)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(matplotlib.ticker.StrMethodFormatter("{x:g}"))


def paper_fraction(paper: pd.DataFrame, law: str) -> float:
    """Returns the serial fraction that fits the study's whole curve best: see `draw_scaling`."""
    work = paper["boards"] / paper["boards"].iloc[0]
    times = paper.assign(num_envs=paper["boards"], repeat=0, seconds=work / paper["speedup"])
    return serial_fraction(times, law).iloc[0]


def draw_lost(table: pd.DataFrame):
    """Draws the repeats and medians of `lost`, which has a column `mask`."""
    figure, axes = plots.axes(height=3.6)
    microseconds = table.assign(lost=table["lost"] * 1e6)
    at = {"data": microseconds, "x": "num_envs", "y": "lost", "hue": "mask"}
    palette = {"palette": plots.COLORS[: microseconds["mask"].nunique()]}
    seaborn.stripplot(**at, **palette, dodge=True, alpha=0.6, legend=False, ax=axes)
    bars = {"errorbar": None, "linestyle": "none", "marker": "_", "markersize": 20}
    seaborn.pointplot(**at, **palette, estimator="median", dodge=0.4, **bars, ax=axes)
    axes.axhline(0, color=plots.BLACK, linewidth=1)
    axes.set_xlabel("boards")
    axes.set_ylabel("microseconds lost per step")
    axes.get_legend().remove()
    figure.legend(frameon=False, title="mask", loc="outside right upper")
    axes.set_title("Time of a step beyond its share of one thread's time")
    return figure


def draw_over_boards(times: pd.DataFrame, bytes_per_board: int, caches: dict[str, int]):
    """Draws plies per second over the number of boards, one line per rung of `over_boards`; says
    where the boards outgrow a cache.
    """
    rates = times.assign(rate=times["num_envs"] / times["seconds"])
    at, title = ("rung", "num_envs", "rate"), "Rungs over the number of boards"
    figure = plots.medians(rates, *at, things="boards", quantity="plies per second", title=title)
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


def predict_scaling(
    strong: pd.DataFrame, cores: int, *, seed: int, paper: pd.DataFrame | None = None
) -> ipywidgets.VBox:
    """Asks how many times as fast as one thread a rung of the reader's choice is."""
    within = strong[strong["threads"] <= cores]
    law = {"law": "Amdahl", "serial": serial_fraction(within, "Amdahl").median()}

    def draw(choice, guess, gain):
        point = (choice["threads"], gain) if gain else None
        expected = (choice["threads"], guess)
        return draw_scaling(strong, cores, **law, paper=paper, guess=expected, measured=point)

    def measure(choice):
        _, gain = one_point(**choice, mask="bool", seed=seed)
        return gain

    guess = ipywidgets.BoundedFloatText(1.0, min=0.01, max=1000, step=0.1, description="guess, ×")
    return predict_first(draw, measure, rung_controls(strong["threads"].unique().tolist()), guess)
