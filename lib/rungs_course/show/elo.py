"""Ratings: over a run's time, and of everybody that played."""

import pandas as pd

from rungs_course import plots


def over_time(evaluations: pd.DataFrame, over: str = "seconds"):
    """Draws a run's rating beside random play, and its scores, as it went on.

    Args:
        evaluations: a run's `evaluations.csv`.
        over: "seconds" or "positions".
    """
    figure, (elo, scores) = plots.axes(9.5, 3.6, ncols=2)
    rows = evaluations.sort_values(over)
    plots.band_line(elo, rows, over, "elo", "with search", {"color": plots.BLUE, "marker": "o"})
    alone = {"color": plots.ORANGE, "marker": "s", "linestyle": plots.LINESTYLES[1]}
    elo.plot(rows[over], rows["elo"] - rows["search_gain"], label="the policy alone", **alone)
    elo.axhline(0, color=plots.BLACK, linewidth=0.8, linestyle=":")
    elo.set_ylabel("Elo above random play")
    against = {"random": "random play", "stockfish": "Stockfish at its weakest"}
    for name, told, look in plots.lines((key, against[key]) for key in against if key in rows):
        scores.plot(rows[over], rows[name], label=f"against {told}", **look)
    scores.set(ylim=(-0.02, 1.02), ylabel="points per game")
    below = {"seconds": "seconds of playing and learning", "positions": "positions played"}[over]
    for axes in (elo, scores):
        axes.set_xlim(0, None)
        axes.set_xlabel(below)
        axes.legend(frameon=False, fontsize=8)
    return figure


def ratings(table: pd.DataFrame):
    """Draws everybody's rating with its interval, the best on top.

    Args:
        table: of `rungs._src.selfplay.elo.rate`.
    """
    figure, axes = plots.axes(7.5, 0.9 + 0.32 * len(table))
    rows = table.sort_values("elo")
    place = range(len(rows))
    reach = [rows["elo"] - rows["low"], rows["high"] - rows["elo"]]
    axes.errorbar(rows["elo"], place, xerr=reach, fmt="o", color=plots.BLUE, capsize=3)
    axes.set(yticks=place, yticklabels=rows["player"], xlabel="Elo above random play")
    axes.axvline(0, color=plots.BLACK, linewidth=0.8, linestyle=":")
    return figure
