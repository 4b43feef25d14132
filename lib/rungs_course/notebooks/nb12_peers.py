"""Notebook 12, peers: figures of their speeds."""

import pandas as pd

from rungs_course import peers, plots, widgets
from rungs_course.measure.quartiles import quartiles
from rungs_course.peers import race
from rungs_course.tables import with_interval


def draw_rates(times: pd.DataFrame, things: str, title: str):
    """Draws steps per second over the number of environments, a line for each racer."""
    values = times.assign(rate=times["plies"] / times["seconds"])
    quantity = f"steps per second of all {things} together"
    at = ("racer", "num_envs", "rate")
    return plots.medians(values, *at, things=things, quantity=quantity, title=title)


def costs(times: pd.DataFrame, clock_mhz: float | None) -> pd.DataFrame:
    """Returns each racer at its best on one core, the fastest first.

    A row per racer: `num_envs`, `rate` (plies per second), `per_kilocycle` (plies in 1,000 cycles;
    NaN where the clock is not known), `bytes_per_ply` (where no game ends; NaN where a step returns
    no arrays), `tuned` (what other projects were made fast for).
    """
    best = race.best(times).set_index("racer")
    written = times.groupby("racer")["bytes_per_ply"].min().replace(0, float("nan"))
    tuned = {name: project.tuned for name, project in peers.PROJECTS.items()}
    return best[["num_envs", "rate"]].assign(
        per_kilocycle=best["rate"] / (clock_mhz * 1e3) if clock_mhz else float("nan"),
        bytes_per_ply=written,
        tuned=[tuned.get(name.partition(",")[0], "") for name in best.index],
    )


def headline(times: pd.DataFrame, best: pd.DataFrame) -> str:
    """Writes how ours compares with the fastest of the others, and what that one is."""
    ours = "rungs, board + bits"
    others = [name for name in best.index if not name.startswith(("rungs", "python-chess"))]
    if not others:
        return "No peer is installed: ours are alone."
    theirs = best.loc[others[0]]
    over = race.gain(times, others[0], ours)
    written = theirs["bytes_per_ply"]
    which = "no arrays" if pd.isna(written) else f"{written:,.0f} bytes a ply"
    return (
        f"The peer with the most plies a second is **{others[0]}** ({theirs['tuned'] or 'ours'}): "
        f"{plots.speed(theirs['rate'])}, {which}. {ours}, {best.loc[ours, 'bytes_per_ply']:,.0f} "
        f"bytes a ply, over it: {with_interval(over.middle, over.low, over.high)}."
    )


def draw_step_times(times: pd.DataFrame, things: str = "boards", title: str = "Time per step"):
    """Draws the time of a step of all over their number (chess study's figure 2, CartPole's 4)."""
    values = times.assign(step=times["seconds"] / times["plies"] * times["num_envs"])
    quantity = f"seconds per step of all {things}"
    at = ("racer", "num_envs", "step")
    return plots.medians(values, *at, things=things, quantity=quantity, title=title)


def draw_bars(times: pd.DataFrame, ours: str, title: str):
    """Draws steps per second of each racer, and how many times as many `ours` makes."""
    rates = times.assign(rate=times["plies"] / times["seconds"])
    table = quartiles(rates.groupby("racer")["rate"], "rate").sort_values("rate")
    figure, axes = plots.axes(height=1.4 + 0.38 * len(table))
    right = {"xytext": (8, 0), "textcoords": "offset points", "va": "center"}
    for row, (racer, (rate, low, high)) in enumerate(table[["rate", "low", "high"]].iterrows()):
        look = {"color": plots.BLUE if racer == ours else plots.GREY, "fmt": "o", "capsize": 3}
        axes.errorbar(rate, row, xerr=[[rate - low], [high - rate]], **look)
        text = plots.speed(rate)
        if ours in table.index and racer != ours:
            text += f", {plots.ratio(table.loc[ours, 'rate'] / rate)}"
        axes.annotate(text, (high, row), **right)
    axes.set_yticks(range(len(table)), table.index)
    axes.set_xscale("log")
    axes.set_xlim(table["low"].min() / 3, table["high"].max() * 12)
    axes.set_xlabel("steps per second of all environments (logarithmic; lines: quartiles)")
    axes.set_title(title)
    return figure


def explore_peers(times: pd.DataFrame, ours: str, things: str = "boards"):
    """Compares our environment with others, for a number of boards of the reader's choice."""

    def draw(num_envs):
        chosen = times[times["num_envs"] == num_envs]
        return draw_bars(chosen, ours, f"{num_envs:,} {things}")

    return widgets.explore(draw, num_envs=widgets.counts_of(times, things))
