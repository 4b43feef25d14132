"""Notebook 12, peers: figures of their speeds."""

import pandas as pd

from rungs_course import plots, widgets
from rungs_course.measure.quartiles import quartiles


def draw_bars(times: pd.DataFrame, our_racer: str, title: str):
    """Draws steps per second of each racer, and how many times as many `our_racer` makes."""
    rates = times.assign(rate=times["plies"] / times["seconds"])
    table = quartiles(rates.groupby("racer")["rate"], "rate").sort_values("rate")
    figure, axes = plots.axes(height=1.4 + 0.38 * len(table))
    right = {"xytext": (8, 0), "textcoords": "offset points", "va": "center"}
    for row, (racer, (rate, low, high)) in enumerate(table[["rate", "low", "high"]].iterrows()):
        look = {"color": plots.BLUE if racer == our_racer else plots.GREY, "fmt": "o", "capsize": 3}
        axes.errorbar(rate, row, xerr=[[rate - low], [high - rate]], **look)
        text = plots.speed(rate)
        if our_racer in table.index and racer != our_racer:
            text += f", {plots.ratio(table.loc[our_racer, 'rate'] / rate)}"
        axes.annotate(text, (high, row), **right)
    axes.set_yticks(range(len(table)), table.index)
    axes.set_xscale("log")
    axes.set_xlim(table["low"].min() / 3, table["high"].max() * 12)
    axes.set_xlabel("steps per second of all environments (logarithmic; lines: quartiles)")
    axes.set_title(title)
    return figure


def explore_peers(times: pd.DataFrame, our_racer: str, things: str = "boards"):
    """Compares our environment with others, for a number of boards of the reader's choice."""

    def draw(num_envs):
        chosen = times[times["num_envs"] == num_envs]
        return draw_bars(chosen, our_racer, f"{num_envs:,} {things}")

    return widgets.explore(draw, num_envs=widgets.counts_of(times, things))
