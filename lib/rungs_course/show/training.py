"""Figures of whole systems that learn, and of what they have learnt."""

import pandas as pd
import seaborn

from rungs_course import plots


def throughput(updates: pd.DataFrame):
    """Draws updates per second over the number of boards, and those with a free environment.

    Args:
        updates: of `rungs_course.studies.full_system.race_updates`; the racer "null" is that line.
    """
    figure, axes = plots.axes(height=4.4)
    total = updates.groupby(["racer", "num_envs", "repeat"], sort=False)["seconds"].sum()
    rates = (1 / total).rename("rate").reset_index()
    null = rates[rates["racer"] == "null"].groupby("num_envs")["rate"].median()
    label = "an environment that costs nothing"
    axes.plot(null.index, null, color=plots.BLACK, linestyle="--", label=label, zorder=3)
    for racer, rows, look in plots.lines(
        rates[rates["racer"] != "null"].groupby("racer", sort=False)
    ):
        plots.median_line(axes, rows.groupby("num_envs")["rate"], racer, look)
    axes.set_yscale("log")
    axes.set_ylabel("updates per second")
    plots.boards_below(axes)
    axes.set_title("Training, one update per step of all boards")
    return figure


_CAUSES = {"halving": "smaller batches", "at_once": "at once", "both": "both together"}


def overlap(gains: pd.DataFrame):
    """Draws what two halves in flight gain, by cause, medians and extremes, and the bound.

    Args:
        gains: of `rungs_course.studies.overlap.gains`.
    """
    threads = gains["network_threads"].unique().tolist()
    figure, panels = plots.axes(
        width=3.8 * len(threads), height=3.8, ncols=len(threads), sharey=True, squeeze=False
    )
    long = gains.rename(columns=_CAUSES).melt(
        ["network_threads", "num_envs", "bound"], list(_CAUSES.values()), "cause", "gain"
    )
    for axes, count in zip(panels[0], threads, strict=True):
        rows = long[long["network_threads"] == count]
        colors = (plots.SKY, plots.ORANGE, plots.BLUE)
        look = {"markers": ["o", "s", "^"], "linestyles": "none", "dodge": 0.5, "linewidth": 1.5}
        seaborn.pointplot(
            rows,
            x="num_envs",
            y="gain",
            hue="cause",
            palette=list(colors),
            estimator="median",
            errorbar=("pi", 100),
            ax=axes,
            **look,
        )
        for x, bound in enumerate(rows.groupby("num_envs")["bound"].median()):
            label = "bound of working at once" if x == 0 else None
            axes.hlines(bound, x - 0.45, x + 0.45, color=plots.BLACK, linestyle="--", label=label)
        axes.axhline(1, color=plots.GREY, zorder=0)
        axes.set_title(f"the network on {count} thread{'s'[: count > 1]}")
        axes.set_xlabel("boards")
        handles, names = axes.get_legend_handles_labels()
        axes.get_legend().remove()
    panels[0][0].set_ylabel("times as fast")
    panels[0][0].set_ylim(0, None)
    figure.legend(handles, names, loc="outside lower center", ncols=4, frameon=False)
    return figure


def models(updates: pd.DataFrame):
    """Draws positions learnt from per second over the number of boards, by the network's width.

    Args:
        updates: of `rungs_course.studies.bottleneck.by_model`.
    """
    figure, axes = plots.axes(height=3.8)
    total = updates.groupby(["width", "num_envs", "repeat", "positions"])["seconds"].sum()
    rates = total.reset_index()
    rates["rate"] = rates["positions"] / rates["seconds"]
    colors = plots.COLORS[: rates["width"].nunique()]
    look = {"markers": True, "dashes": False, "errorbar": ("pi", 50), "palette": list(colors)}
    seaborn.lineplot(
        rates,
        x="num_envs",
        y="rate",
        hue="width",
        style="width",
        estimator="median",
        ax=axes,
        **look,
    )
    axes.set_ylim(0, None)
    axes.set_ylabel("positions per second")
    plots.boards_below(axes)
    axes.get_legend().set_title("units of the network")
    axes.set_title("Training: smaller models, larger batches")
    return figure


def learning(evaluations: pd.DataFrame, over: str):
    """Draws the score against the random opponent as it grows, with 95 % intervals.

    Args:
        evaluations: `rung`, and the columns of a run's `evaluations.csv`.
        over: "seconds", and there is a line per rung; or "steps", over which all rungs have one
            curve, with a marker where each stopped.
    """
    figure, axes = plots.axes(height=4.4)
    groups = plots.lines(evaluations.groupby("rung", sort=False))
    if over == "steps":
        once = evaluations.sort_values("steps").drop_duplicates("steps")
        plots.band_line(axes, once, over, "score", "all rungs", {"color": plots.GREY})
        for rung, rows, look in groups:
            last = rows.iloc[-1]
            axes.plot(last["steps"], last["score"], label=f"{rung} stopped", ls="none", **look)
    else:
        for rung, rows, look in groups:
            plots.band_line(axes, rows, over, "score", rung, look)
    axes.axhline(0.5, color=plots.BLACK, linestyle=":", linewidth=1)
    axes.set_ylim(0.4, 1.0)
    axes.set_ylabel("score per game against random play")
    plots.training_below(figure, axes, over)
    axes.set_title({"steps": "Over steps: one curve", "seconds": "Over time: the rungs"}[over])
    return figure
