"""Notebook 12, peers: figures of their speeds."""

import ipywidgets
import pandas as pd
from IPython.display import display

from rungs_course import plots, widgets


def draw_rates(times: pd.DataFrame, things: str, title: str):
    """Draws steps per second over the number of environments, a line for each racer."""
    values = times.assign(rate=times["plies"] / times["seconds"])
    quantity = f"steps per second, of all {things} together"
    at = ("racer", "num_envs", "rate")
    return plots.medians(values, *at, things=things, quantity=quantity, title=title)


def draw_step_times(times: pd.DataFrame, things: str = "boards", title: str = "Time per step"):
    """Draws the time of a step of all over their number (chess study's figure 2, CartPole's 4)."""
    values = times.assign(step=times["seconds"] / times["plies"] * times["num_envs"])
    quantity = f"seconds per step of all {things}"
    at = ("racer", "num_envs", "step")
    return plots.medians(values, *at, things=things, quantity=quantity, title=title)


def draw_bars(times: pd.DataFrame, ours: str, title: str):
    """Draws steps per second of each racer, and how many times as many `ours` makes."""
    values = times.assign(rate=times["plies"] / times["seconds"])
    medians = values.groupby("racer")["rate"].median().sort_values()
    figure, axes = plots.axes(height=1.4 + 0.38 * len(medians))
    colors = [plots.BLUE if racer == ours else plots.GREY for racer in medians.index]
    texts = medians.map(plots.speed)
    for racer in medians.index.drop(ours) if ours in medians else ():
        texts[racer] += f", {plots.ratio(medians[ours] / medians[racer])}"
    axes.bar_label(axes.barh(medians.index, medians, color=colors), texts, padding=4)
    axes.set_xscale("log")
    axes.set_xlim(medians.min() / 3, medians.max() * 12)
    axes.set_xlabel("steps per second, of all environments together")
    axes.set_title(title)
    return figure


def explore_peers(times: pd.DataFrame, ours: str, things: str = "boards"):
    """Compares our environment with others, for a number of boards of the reader's choice."""

    def show(num_envs):
        chosen = times[times["num_envs"] == num_envs]
        display(plots.image(draw_bars(chosen, ours, f"{num_envs:,} {things}")))

    return ipywidgets.interactive(show, num_envs=widgets.counts_of(times, things))
