"""Notebook 13, CartPole: what a step takes, and of what."""

import dataclasses
import itertools
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import matplotlib.patches
import matplotlib.pyplot as plt
import matplotlib.ticker
import numpy as np
import pandas as pd
import seaborn

import rungs
from rungs_course import plots
from rungs_course.measure.cost import fit
from rungs_course.measure.noise import Factor, factor
from rungs_course.measure.quartiles import quartiles
from rungs_course.measure.verify import verify_games
from rungs_course.peers import race as peer_race
from rungs_course.peers.cartpole import OurCartPole
from rungs_course.peers.race import Entry

_MIN_STEPS, _MAX_STEPS = 8, 2000  # per repeat
_MIN_COUNTS = 3  # numbers of environments that a line is fitted to


def check_same(racers: dict[str, dict], num_envs: int, steps: int, seed: int) -> None:
    """Plays the same actions on several rungs, and raises `MismatchError` unless all return the
    same, bit for bit.
    """
    envs = {
        name: rungs.make("cartpole", num_envs=num_envs, **env_kwargs)
        for name, env_kwargs in racers.items()
    }
    verify_games(envs, seed=seed, steps=steps)
    for env in envs.values():
        env.close()


def step_times(
    entries: dict[str, Entry], counts: Iterable[int], *, budget: int, **timing
) -> pd.DataFrame:
    """Times steps over the number of environments; returns as `rungs_course.peers.race.race`, and
    `call`, seconds per step of all environments.
    """

    def steps(count: int) -> int:
        return min(max(budget // count, _MIN_STEPS), _MAX_STEPS)

    times = peer_race.race(entries, list(counts), steps=steps, **timing)
    return times.assign(call=times["seconds"] / times["plies"] * times["num_envs"])


def turning_points(times: pd.DataFrame) -> pd.DataFrame:
    """Finds from how many environments on a step's time is mostly theirs, not a call's fixed cost.

    A line is fitted to the time of a step over the number of environments, a + b N, with relative
    errors; where both parts are equal, at N = a / b, is the turning point. Returns a row per racer:
    `racer`, `fixed` (a, seconds), `each` (b, seconds), `turning` (N; the medians of fits to single
    repeats), and its quartiles `low` and `high`. A part that is 0 has no turning point: NaN.
    """
    rows = []
    for racer, group in times.groupby("racer", sort=False):
        if group["num_envs"].nunique() < _MIN_COUNTS:
            continue
        terms = group.assign(ones=1.0).groupby("repeat")[["ones", "num_envs", "call"]]
        lines = [fit(repeat[["ones", "num_envs"]], repeat["call"]) for _, repeat in terms]
        fixed, slope = np.array(lines).T
        with np.errstate(divide="ignore", invalid="ignore"):
            turning = np.where((fixed > 0) & (slope > 0), fixed / slope, np.nan)
        spread = quartiles(pd.Series(turning))
        rows.append((racer, np.median(fixed), np.median(slope), *spread))
    columns = ["racer", "fixed", "each", "low", "turning", "high"]
    return pd.DataFrame(rows, columns=columns)


def with_work(
    racers: dict[str, dict],
    workloads: Iterable[int],
    counts: Iterable[int],
    *,
    budget: int,
    **settings,
) -> pd.DataFrame:
    """Times steps that are taken in several steps of Euler's method; returns as `step_times`, and
    `workload`.
    """
    frames = []
    for workload in workloads:
        entries = {
            name: Entry(OurCartPole, kwargs | {"workload": workload})
            for name, kwargs in racers.items()
        }
        times = step_times(entries, counts, budget=budget // workload, **settings)
        frames.append(times.assign(workload=workload))
    return pd.concat(frames, ignore_index=True)


def exactness(workloads: Iterable[int], *, seed: int, steps: int = 10) -> pd.DataFrame:
    """Compares where poles have come to with where much finer steps of Euler's method bring them.

    Returns a row per workload: `workload`, and `error`, the median distance in radians from what a
    hundred times the finest gives.
    """
    workloads, num_envs = list(workloads), 64

    def angles(workload: int) -> np.ndarray:
        env = rungs.make("cartpole", "cpp", num_envs, workload=workload)
        env.reset(seed=seed)
        for step in range(steps):
            env.step(np.full(num_envs, step % 2))
        env.close()
        return env.carts.dump()["state"][2]

    truth = angles(100 * max(workloads))
    errors = [np.median(np.abs(angles(workload) - truth)) for workload in workloads]
    return pd.DataFrame({"workload": workloads, "error": errors})


def growth(work: pd.DataFrame) -> pd.DataFrame:
    """Returns how the time of a step grows with its work.

    A row per racer, number of environments and repeat: `racer`, `num_envs`, `repeat`, and
    `exponent`: the time grows as the work to this power, between the least and the most of it. 1 is
    linear, less is sublinear.
    """
    calls = work.pivot_table(
        index=["racer", "num_envs", "repeat"], columns="workload", values="call", sort=False
    )
    least, most = calls.columns.min(), calls.columns.max()
    exponent = np.log(calls[most] / calls[least]) / np.log(most / least)
    return exponent.rename("exponent").reset_index()


def operations(num_envs: int, **settings) -> Counter[str]:
    """Counts the tensor operations of a step of the rung "torch", by name."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Count(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            counted[function.overloadpacket.__name__] += 1
            return function(*args, **(kwargs or {}))

    counted: Counter[str] = Counter()
    env = rungs.make("cartpole", "torch", num_envs, **settings)
    env.reset(seed=0)
    actions = np.zeros(num_envs, np.int64)
    with Count():
        env.step(actions)
    env.close()
    return counted


def fusing(
    racers: dict[str, dict],
    bandwidth: dict[str, float],
    *,
    steps: Mapping[int, int],
    at_once: int,
    **timing,
) -> pd.DataFrame:
    """Times steps one by one, and `at_once` in a call, with random actions that the rung draws
    itself.

    `bandwidth` is bytes per second that memory moves for each name; `steps` a repeat's, by the
    number of environments. Returns a row per number of environments and name: `num_envs`, `racer`,
    `bytes` of `step_bytes`; `bound`, steps per second whose bytes memory can move; `alone` and
    `fused`, steps per second of all environments, medians; `of_bound`, the share that `alone`
    reaches, and `gain`, fused / alone, which took turns, both with `..._low` and `..._high`, and
    `repeats`: see `share_of_bound` and `gain_of`.
    """
    entries = {
        f"{name}, {calls} at once": Entry(OurCartPole, kwargs | extra, at_once=calls)
        for name, kwargs in racers.items()
        for calls, extra in ((1, {}), (at_once, {"at_once": at_once}))
    }
    times = peer_race.race(entries, list(steps), steps=steps.__getitem__, **timing)
    rates = (times["plies"] / times["seconds"]).groupby([times["num_envs"], times["racer"]])
    rows = []
    for num_envs, (name, settings) in itertools.product(steps, racers.items()):
        alone, fused = (
            rates.get_group((num_envs, f"{name}, {calls} at once")).to_numpy()
            for calls in (1, at_once)
        )
        moved = sum(step_bytes(settings.get("dtype", "float64")).values())
        bound = bandwidth[name] / moved
        share, gain = factor(alone / bound), factor(fused / alone)
        shares, gains = dataclasses.astuple(share)[:3], dataclasses.astuple(gain)
        medians = np.median(alone), np.median(fused)
        rows.append((num_envs, name, moved, bound, *medians, *shares, *gains))
    columns = ["num_envs", "racer", "bytes", "bound", "alone", "fused"]
    columns += ["of_bound", "of_bound_low", "of_bound_high"]
    return pd.DataFrame(rows, columns=[*columns, "gain", "gain_low", "gain_high", "repeats"])


def share_of_bound(row: Any) -> Factor:
    """Returns which share of the bound single steps reach, of a row of `fusing`."""
    return Factor(row.of_bound, row.of_bound_low, row.of_bound_high, row.repeats)


def gain_of(row: Any) -> Factor:
    """Returns what many steps in a call gain, of a row of `fusing`."""
    return Factor(row.gain, row.gain_low, row.gain_high, row.repeats)


def quotient(one: Factor, other: Factor) -> Factor:
    """Returns one factor over another; the interval allows for the intervals of both."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.array([one.middle, one.low, one.high]) / [other.middle, other.high, other.low]
    middle, low, high = map(float, ends)
    return Factor(middle, low, high, min(one.repeats, other.repeats))


def step_bytes(dtype: str = "float64") -> dict[str, int]:
    """Returns the bytes that a step must move for one environment, by name, read or written.

    No rung can move fewer, where nothing stays in a cache until the next step.
    """
    number = np.dtype(dtype).itemsize
    return {
        "action, read": 8,
        "state, read": 4 * number,
        "state, written": 4 * number,
        "steps, read": 4,
        "steps, written": 4,
        "observation, written": 16,
        "reward, written": 4,
        "terminated, truncated, ended, written": 3,
    }


def draw_step_times(times: pd.DataFrame, turning: pd.DataFrame):
    """Draws the time of a step over the number of environments; a tick marks each turning point."""
    figure = plots.step_times(times, "environments")
    (axes,) = figure.axes
    for row in turning.dropna().itertuples():
        line = next(line for line in axes.lines if line.get_label() == row.racer)
        look = {"markeredgecolor": line.get_color(), "markeredgewidth": 2.5}
        axes.plot(row.turning, 2 * row.fixed, marker="|", markersize=18, zorder=4, **look)
    axes.set_title("Time per step; ticks: turning points")
    return figure


def draw_workloads(times: pd.DataFrame):
    """Draws the time of a step over its work, a panel for each rung (study's figures 5 and 6)."""
    rows = times.sort_values("num_envs", kind="stable")
    rows = rows.assign(environments=rows["num_envs"].map("{:,}".format))
    count = rows["environments"].nunique()
    look = {"palette": plots.COLORS[:count], "markers": plots.MARKERS[:count], "dashes": False}
    look |= {"kind": "line", "height": 3.8, "aspect": 0.9} | plots.MEDIANS
    at = {"x": "workload", "y": "call", "hue": "environments", "style": "environments"}
    with plots.theme():
        order = times["racer"].unique()
        grid = seaborn.relplot(rows, **at, col="racer", col_order=order, **look)
    grid.set(xscale="log", yscale="log").set_titles("{col_name}")
    grid.set_axis_labels("substeps per step", "seconds per step of all environments")
    plt.close(grid.figure)
    return grid.figure


def draw_fused(table: pd.DataFrame):
    """Draws steps per second one by one and many at once, and the bound of memory one by one."""
    figure, axes = plots.axes(height=1.6 + 0.7 * len(table))
    at = np.arange(len(table))
    names = ("one call per step", "many steps per call")
    looks = plots.fills(names, (plots.BLUE, plots.ORANGE))
    for shift, column, name in zip((-0.2, 0.2), ("alone", "fused"), names, strict=True):
        bars = axes.barh(at + shift, table[column], height=0.38, label=name, **looks[name])
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        axes.bar_label(bars, table[column].map(plots.speed), padding=4, zorder=5, bbox=box)
    for i, bound in enumerate(table["bound"]):
        label = "bound of memory, one call per step" if i == 0 else None
        axes.vlines(bound, i - 0.45, i + 0.45, color=plots.BLACK, linestyle="--", label=label)
    axes.set_yticks(at, table["racer"])
    axes.invert_yaxis()
    axes.margins(x=0.2)
    axes.xaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda x, _: plots.speed(x)))
    axes.set_xlabel("steps per second, of all environments together")
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    axes.set_title("CartPole: one step per call, and many")
    return figure


def draw_learning(learnt: pd.DataFrame):
    """Draws rewards of `nb13_ppo.learning` over seconds and over steps: a thin line per seed, and
    their mean (figure 7).
    """
    figure, panels = plots.axes(10.0, 4.4, ncols=2, sharey=True)
    units = {"seconds": "seconds of training", "steps": "steps played"}
    for axes, (over, label) in zip(panels, units.items(), strict=True):
        for system, rows, look in plots.lines(learnt.groupby("system", sort=False)):
            for _, run in rows.groupby("seed"):
                axes.plot(run[over], run["reward"], color=look["color"], linewidth=0.7, alpha=0.4)
            means = rows.groupby("evaluation")[[over, "reward"]].mean()
            name = system if axes is panels[0] else None
            axes.plot(means[over], means["reward"], label=name, linewidth=2.5, **look)
        axes.axhline(500, color=plots.BLACK, linestyle=":", linewidth=1)
        axes.set(xlim=(0, None), ylim=(0, 520), xlabel=label, title=f"Learning over {over}")
    panels[0].set_ylabel("reward per episode")
    figure.legend(loc="outside lower center", ncols=4, frameon=False)
    return figure


_ENVS = 4  # drawn for all of them


def draw_architectures(operations: dict[str, int]):
    """Draws a process for each environment, tensors of all, and a kernel's thread for each."""
    figure, axes = plots.axes(11.0, 4.2, ncols=3)
    _draw_processes(axes[0])
    _draw_tensors(axes[1], operations)
    _draw_kernel(axes[2])
    for panel in axes:
        panel.set(xlim=(0, 10), ylim=(0, 10), xticks=[], yticks=[])
        panel.spines[:].set_visible(False)
    return figure


def _draw_processes(axes) -> None:
    axes.set_title("one process per environment")
    _box(axes, 0.2, 3.6, 3.0, 2.8, "agent", plots.SKY)
    for i in range(_ENVS):
        y = 7.9 - 2.4 * i
        _frame(axes, 6.2, y - 0.45, 3.6, 1.9)
        _box(axes, 6.6, y, 2.8, 1.0, f"environment {i}", plots.ORANGE)
        _arrow(axes, (3.3, 5.2), (6.1, y + 0.7))
        _arrow(axes, (6.1, y + 0.3), (3.3, 4.8))
    axes.text(2.9, 8.6, "actions out,\nobservations back", ha="center", fontsize=8)
    axes.text(2.6, 0.6, "one message each way\nper step", ha="center", fontsize=8)


def _draw_tensors(axes, operations: dict[str, int]) -> None:
    axes.set_title("one operation at a time on all environments")
    columns = [2.3 + 1.9 * i for i in range(_ENVS)]
    for i, x in enumerate(columns):
        axes.text(x, 9.3, f"{i}", ha="center", fontsize=9)
    for row, name in enumerate(sorted(operations, key=lambda name: -operations[name])[:5]):
        y = 7.8 - 1.55 * row
        _box(axes, 1.2, y, 7.8, 0.8, f"{name}, {operations[name]} times", plots.ORANGE)
        for x in columns:
            _arrow(axes, (x, y), (x, y - 0.7))
    text = f"{sum(operations.values())} operations per step,\nwith memory in between"
    axes.text(5.1, 0.1, text, ha="center", fontsize=9)


def _draw_kernel(axes) -> None:
    axes.set_title("a kernel, one thread per environment")
    _frame(axes, 0.8, 1.5, 8.6, 7.6)
    for i in range(_ENVS):
        x, text = 1.3 + 2.05 * i, f"thread {i}\n\nread\n\nall of\nthe step\n\nwrite"
        _box(axes, x, 2.2, 1.5, 6.2, text, plots.ORANGE)
        _arrow(axes, (x + 0.75, 9.9), (x + 0.75, 8.5))
        _arrow(axes, (x + 0.75, 2.1), (x + 0.75, 1.0))
    axes.text(5.1, 0.1, "one launch,\nwith registers in between", ha="center", fontsize=9)


def _box(axes, x: float, y: float, width: float, height: float, text: str, color: str) -> None:
    look: dict[str, Any] = {"boxstyle": "round,pad=0.05", "facecolor": color, "edgecolor": "white"}
    axes.add_patch(matplotlib.patches.FancyBboxPatch((x, y), width, height, **look))
    axes.text(x + width / 2, y + height / 2, text, ha="center", va="center", fontsize=8)


def _frame(axes, x: float, y: float, width: float, height: float) -> None:
    look: dict[str, Any] = {"fill": False, "linestyle": "--", "edgecolor": plots.BLACK}
    axes.add_patch(matplotlib.patches.Rectangle((x, y), width, height, **look))


def _arrow(axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    look = {"arrowstyle": "->", "color": plots.BLACK, "linewidth": 0.8}
    axes.annotate("", end, start, arrowprops=look)
