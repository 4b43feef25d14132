"""Notebook 13, CartPole: the operations of a step, and figures."""

from collections import Counter
from typing import Any

import matplotlib.patches
import numpy as np
import pandas as pd

import rungs
from rungs_course import plots


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
    times = times.assign(environments=times["num_envs"].map("{:,} environments".format))
    return _panels(times, "racer", "environments", "workload", "substeps per step")


def draw_physics(times: pd.DataFrame):
    """Draws the time of a step over the number of environments, a panel for each physics."""
    return _panels(times, "physics", "racer", "num_envs", "environments")


def _panels(times: pd.DataFrame, panel: str, line: str, x: str, things: str):
    """Draws column `call` over `x`, a panel and a line for each value of these columns."""
    groups = list(times.groupby(panel, sort=False))
    figure, panels = plots.axes(
        3.6 * len(groups), 3.8, ncols=len(groups), sharey=True, squeeze=False
    )
    looks = {name: look for name, _, look in plots.lines(times.groupby(line, sort=False))}
    for axes, (title, rows) in zip(panels[0], groups, strict=True):
        for name, timed in rows.groupby(line, sort=False):
            plots.median_line(axes, timed.groupby(x)["call"], f"{name}", looks[name])
        plots.numbers_below(axes, things, rows[x])
        axes.set(yscale="log", title=title, ylabel="")
    panels[0, 0].set_ylabel("seconds per step of all environments")
    handles, names = panels[0, -1].get_legend_handles_labels()  # the last panel has every line
    figure.legend(handles, names, loc="outside lower center", ncols=4, frameon=False)
    return figure


LAYOUTS = ("array of structures", "structure of arrays")


def draw_layouts(times: pd.DataFrame):
    """Draws the time of a cart (`seconds`) by `layout` of `LAYOUTS` and by `place`, a panel for
    each `work`.
    """
    works = list(times.groupby("work", sort=False))
    figure, panels = plots.axes(8.5, 3.0, ncols=len(works))
    colors = dict(zip(LAYOUTS, (plots.ORANGE, plots.BLUE), strict=True))
    for panel, (work, rows) in zip(panels, works, strict=True):
        rows = rows.assign(nanoseconds=rows["seconds"] * 1e9)
        at = {"x": "nanoseconds", "y": "place", "hue": "layout", "palette": colors}
        look = {"dodge": 0.4, "linestyle": "none", "markers": ["s", "o"], "legend": False}
        look |= {"estimator": "median", "errorbar": ("pi", 50)}
        plots.seaborn.pointplot(rows, ax=panel, **at, **look)
        panel.set(title=f"{work} needed", ylabel="", xlabel="nanoseconds per cart")
        panel.set_xlim(0, None)
    for layout, marker in zip(LAYOUTS, "so", strict=True):
        panels[0].plot([], [], marker, color=colors[layout], label=layout)
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
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
    plots.box(axes, (0.2, 3.6), (3.0, 2.8), "agent", facecolor=plots.SKY)
    for i in range(_ENVS):
        y = 7.9 - 2.4 * i
        _frame(axes, 6.2, y - 0.45, 3.6, 1.9)
        plots.box(axes, (6.6, y), (2.8, 1.0), f"environment {i}", facecolor=plots.ORANGE)
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
        plots.box(
            axes, (1.2, y), (7.8, 0.8), f"{name}, {operations[name]} times", facecolor=plots.ORANGE
        )
        for x in columns:
            _arrow(axes, (x, y), (x, y - 0.7))
    text = f"{sum(operations.values())} operations per step,\nwith memory in between"
    axes.text(5.1, 0.1, text, ha="center", fontsize=9)


def _draw_kernel(axes) -> None:
    axes.set_title("a kernel, one thread per environment")
    _frame(axes, 0.8, 1.5, 8.6, 7.6)
    for i in range(_ENVS):
        x, text = 1.3 + 2.05 * i, f"thread {i}\n\nread\n\nall of\nthe step\n\nwrite"
        plots.box(axes, (x, 2.2), (1.5, 6.2), text, facecolor=plots.ORANGE)
        _arrow(axes, (x + 0.75, 9.9), (x + 0.75, 8.5))
        _arrow(axes, (x + 0.75, 2.1), (x + 0.75, 1.0))
    axes.text(5.1, 0.1, "one launch,\nwith registers in between", ha="center", fontsize=9)


def _frame(axes, x: float, y: float, width: float, height: float) -> None:
    look: dict[str, Any] = {"fill": False, "linestyle": "--", "edgecolor": plots.BLACK}
    axes.add_patch(matplotlib.patches.Rectangle((x, y), width, height, **look))


def _arrow(axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    look = {"arrowstyle": "->", "color": plots.BLACK, "linewidth": 0.8}
    axes.annotate("", end, start, arrowprops=look)
