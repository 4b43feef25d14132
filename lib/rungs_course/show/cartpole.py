"""Figures of CartPole's experiments."""

import matplotlib.pyplot as plt
import matplotlib.ticker
import numpy as np
import pandas as pd
import seaborn

from rungs_course import plots
from rungs_course.show import peers


def step_times(times: pd.DataFrame, turning: pd.DataFrame):
    """Draws the time of a step over the number of environments, and a tick where each line turns.

    Args:
        times: of `rungs_course.studies.cartpole.step_times`.
        turning: of `rungs_course.studies.cartpole.turning_points`.
    """
    figure = peers.step_times(times, "environments")
    (axes,) = figure.axes
    for row in turning.dropna().itertuples():
        line = next(line for line in axes.lines if line.get_label() == row.racer)
        look = {"markeredgecolor": line.get_color(), "markeredgewidth": 2.5}
        axes.plot(row.turning, 2 * row.fixed, marker="|", markersize=18, zorder=4, **look)
    axes.set_title("Time per step; ticks: where the environments take as long as the call")
    return figure


def workloads(times: pd.DataFrame):
    """Draws the time of a step over its work, a panel for each rung (the study's figures 5 and 6).

    Args:
        times: of `rungs_course.studies.cartpole.with_work`.
    """
    rows = times.sort_values("num_envs", kind="stable")
    rows = rows.assign(environments=rows["num_envs"].map("{:,}".format))
    count = rows["environments"].nunique()
    with plots.theme():
        grid = seaborn.relplot(
            rows,
            x="workload",
            y="call",
            hue="environments",
            style="environments",
            col="racer",
            col_order=times["racer"].unique(),
            kind="line",
            palette=plots.COLORS[:count],
            markers=plots.MARKERS[:count],
            dashes=False,
            height=3.8,
            aspect=0.9,
            **plots.MEDIANS,
        )
    grid.set(xscale="log", yscale="log").set_titles("{col_name}")
    grid.set_axis_labels("substeps of a step", "seconds per step of all")
    plt.close(grid.figure)
    return grid.figure


def growth(exponents: pd.DataFrame):
    """Draws how the time of a step grows with its work: 1 is linearly, less is sublinearly.

    Args:
        exponents: of `rungs_course.studies.cartpole.growth`.
    """
    table = exponents.pivot_table(
        index="racer", columns="num_envs", values="exponent", aggfunc="median", sort=False
    ).sort_index(axis=1)
    figure, axes = plots.axes(width=3.2 + 1.3 * len(table.columns), height=1.6 + 0.5 * len(table))
    look = {"annot": True, "fmt": ".2f", "vmin": 0, "vmax": 1, "cmap": "Blues", "linewidths": 2}
    seaborn.heatmap(table, ax=axes, cbar_kws={"label": "exponent"}, **look)
    axes.set_xticklabels([f"{count:,}" for count in table.columns])
    axes.tick_params(axis="y", rotation=0)
    axes.set(xlabel="environments", ylabel="")
    axes.set_title("Time of a step ∝ work to this power")
    return figure


def fused(table: pd.DataFrame):
    """Draws steps per second one by one and many at once, beside what memory allows one by one.

    Args:
        table: a row per racer: `racer`, `alone`, `fused`, `bound`, steps per second of all
            environments together.
    """
    figure, axes = plots.axes(height=1.6 + 0.7 * len(table))
    at = np.arange(len(table))
    names = ("a call for each step", "many steps in a call")
    looks = plots.fills(names, (plots.BLUE, plots.ORANGE))
    for shift, column, name in zip((-0.2, 0.2), ("alone", "fused"), names, strict=True):
        axes.barh(at + shift, table[column], height=0.38, label=name, **looks[name])
        for y, value in zip(at + shift, table[column], strict=True):
            text = plots.speed(value)
            label = axes.annotate(
                text, (value, y), (4, 0), textcoords="offset points", va="center", zorder=5
            )
            label.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 1})
    for i, bound in enumerate(table["bound"]):
        label = "bound of memory, a call for each step" if i == 0 else None
        axes.vlines(bound, i - 0.45, i + 0.45, color=plots.BLACK, linestyle="--", label=label)
    axes.set_yticks(at, table["racer"])
    axes.invert_yaxis()
    axes.margins(x=0.2)
    axes.xaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda x, _: plots.speed(x)))
    axes.set_xlabel("steps per second, of all environments together")
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    axes.set_title("Steps one by one, and many in a call")
    return figure


def learning(means: pd.DataFrame, over: str):
    """Rewards on Gymnasium's CartPole as agents learn, with 95 % intervals (the study's figure 7).

    Args:
        means: of `rungs_course.studies.cartpole_ppo.over_seeds`.
        over: "steps" or "seconds".
    """
    figure, axes = plots.axes(height=4.4)
    for system, rows, look in plots.lines(means.groupby("system", sort=False)):
        within = rows.assign(low=rows["low"].clip(lower=0), high=rows["high"].clip(upper=500))
        plots.band_line(axes, within, over, "reward", system, look)
    axes.axhline(500, color=plots.BLACK, linestyle=":", linewidth=1)
    axes.set_ylim(0, 520)
    axes.set_ylabel("reward of an episode")
    plots.training_below(figure, axes, over)
    axes.set_title(f"Learning over {over}")
    return figure
