"""Figures of the learners' ladder."""

import matplotlib.ticker
import pandas as pd
import seaborn

from rungs_course import plots


def generation(
    shares: pd.DataFrame, points: pd.DataFrame, study: tuple[float, float] | None = None
):
    """Draws which share of training is generating, over the speed of the learner.

    Args:
        shares: lines, of `rungs_course.studies.learners.generation_shares`.
        points: of the same, those of learners that were measured; the first is named, and the
            fastest.
        study: the least share of the study's learner behind OpenSpiel and its speed, of
            `rungs_course.studies.learners.implied_by_study`.
    """
    figure, axes = plots.axes(width=8.0, height=4.8)
    for system, rows, look in plots.lines(shares.groupby("system", sort=False)):
        line = {"color": look["color"]}
        axes.plot(rows["speed"], rows["share"], label=f"behind {system}", **line)
        there = points[points["system"] == system]
        axes.plot(there["speed"], there["share"], look["marker"], **line, markersize=7)
    speeds = points.groupby("learner", sort=False)["speed"].first()
    for learner in dict.fromkeys([speeds.index[0], speeds.idxmax()]):
        speed = speeds[learner]
        axes.axvline(speed, color=plots.GREY, linewidth=0.8, linestyle=":", zorder=0)
        at = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
        # Between the lines, whose points are high or low.
        axes.annotate(learner, (speed, 0.65), (-3, 0), rotation=90, ha="right", va="top", **at)
    if study:
        share, speed = study
        label = f"the study's, on an A100, behind OpenSpiel: at least {share:.0%}"
        axes.plot(speed, share, "*", color=plots.BLACK, markersize=14, label=label, zorder=4)
    axes.axhline(0.5, color=plots.BLACK, linestyle="--", linewidth=0.8, zorder=0)
    axes.set_xscale("log")
    axes.set_ylim(0, 1)
    axes.yaxis.set_major_formatter(matplotlib.ticker.PercentFormatter(1))
    axes.set_xlabel("positions a second that the learner plays and learns from, by itself")
    axes.set_ylabel("share of training that is generating")
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    axes.set_title("How much does a step of the environment matter?")
    return figure


def wins(evaluations: pd.DataFrame, over: str):
    """Draws the share of games won as it grows: a line per seed, the learners by colour.

    Args:
        evaluations: of `rungs_course.studies.learners.train_all`.
        over: "steps" or "seconds".
    """
    figure, axes = plots.axes(height=4.4)
    shown = evaluations.assign(won=evaluations["wins"] / evaluations["games"])
    names = shown["learner"].unique().tolist()
    look = {"hue": "learner", "style": "learner", "palette": plots.COLORS[: len(names)]}
    seaborn.lineplot(
        shown, x=over, y="won", units="seed", estimator=None, alpha=0.7, ax=axes, **look
    )
    axes.get_legend().remove()
    axes.axhline(0.9, color=plots.BLACK, linestyle=":", linewidth=1)
    axes.set_ylim(0, 1)
    axes.yaxis.set_major_formatter(matplotlib.ticker.PercentFormatter(1))
    axes.set_ylabel("games won against random play")
    handles, labels = axes.get_legend_handles_labels()
    axes.set_xlim(0, None)
    axes.set_xlabel({"steps": "steps played", "seconds": "seconds of training"}[over])
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    axes.set_title(f"Games won over {over}, each seed")
    return figure


def ladder(table: pd.DataFrame):
    """Draws how fast the learners are, medians and quartiles, and how much each gains.

    Args:
        table: of `rungs_course.studies.learners.ladder`.
    """
    figure, axes = plots.axes(height=1.4 + 0.5 * len(table))
    rates = table["steps_per_second"]
    spread = [rates - table["low"], table["high"] - rates]
    look = {"color": plots.BLUE, "error_kw": {"ecolor": plots.BLACK, "capsize": 3}}
    axes.barh(table["learner"], rates, xerr=spread, **look)
    for i, row in enumerate(table.itertuples()):
        share = "" if pd.isna(row.share) else f", {row.share:.1%} of the peak"
        text = f"{row.steps_per_second:,.0f} steps/s, {plots.ratio(row.gain)}{share}"
        axes.annotate(text, (row.high, i), (6, 0), textcoords="offset points", va="center")
    axes.invert_yaxis()
    axes.set_xlim(0, 2.3 * table["high"].max())  # what is written beside the bars, too
    axes.xaxis.set_major_formatter(matplotlib.ticker.EngFormatter())
    axes.set_xlabel("steps a second, end to end")
    axes.set_title("The ladder of learners")
    return figure
