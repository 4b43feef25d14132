"""How fast searches are: by what is new on each rung, and over the games that share a batch."""

import pandas as pd

from rungs_course import plots


def ladder(raced: pd.DataFrame, games: int):
    """Draws simulations per second of each way to search, a bar for each evaluator.

    Args:
        raced: of `rungs_course.studies.search.race`.
        games: the number of games that is drawn.
    """
    rows = raced[raced["games"] == games]
    rates = rows.groupby(["evaluator", "racer"], sort=False)["per_second"].median().unstack("racer")
    ways, evaluators = list(rates.columns), list(rates.index)
    figure, axes = plots.axes(7.5, 0.8 + 0.62 * len(ways))
    looks = plots.fills(evaluators, plots.COLORS[: len(evaluators)])
    height = 0.8 / len(evaluators)
    for i, (name, of) in enumerate(rates.iterrows()):
        place = [k + (i - (len(evaluators) - 1) / 2) * height for k in range(len(ways))]
        bars = axes.barh(place, of[ways], height, **looks[name])
        axes.bar_label(bars, [plots.speed(rate) for rate in of[ways]], padding=3, fontsize=8)
    axes.set_xscale("log")
    axes.set_xlim(right=rates.max().max() * 4)
    axes.set(yticks=range(len(ways)), yticklabels=ways, xlabel="simulations per second")
    axes.invert_yaxis()
    plots.legend_below(figure, looks, len(evaluators))
    return figure


def batches(raced: pd.DataFrame, evaluator: str):
    """Draws simulations per second over the number of games whose leaves are asked for together.

    Args:
        raced: of `rungs_course.studies.search.race`.
        evaluator: which of it.
    """
    figure, axes = plots.axes(6.5, 3.4)
    rows = raced[raced["evaluator"] == evaluator]
    for way, of, look in plots.lines(rows.groupby("racer", sort=False)):
        plots.median_line(axes, of.groupby("games")["per_second"], way, look)
    axes.set_yscale("log")
    plots.numbers_below(axes, "games at once")
    axes.set_ylabel("simulations per second")
    axes.legend(frameon=False)
    return figure
