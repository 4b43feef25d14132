"""Notebook 12, peers: which of them play chess, and figures of their speeds."""

import pandas as pd

from rungs_course import paths, plots, widgets
from rungs_course.measure.quartiles import quartiles

# The columns of the page that are rungs of ours, but one.
_RUNGS = ["python", "multiprocessing", "openmp", "threads", "mpi", "cuda"]


def conformance_table() -> pd.DataFrame:
    """Returns the cases of the laws of chess that hold, of all, by group and project, from
    `docs/conformance_table.md`; "-" where a project can't be asked.
    """
    lines = (paths.ROOT / "docs" / "conformance_table.md").read_text().splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "|" in line]
    head = rows[0]
    table = pd.DataFrame([row for row in rows[2:] if len(row) == len(head)], columns=head)
    laws = table[table["kind"].isin(["law", "reading"])]
    return laws.drop(columns=_RUNGS).set_index(["group", "kind"])


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


def explore_peers(times: pd.DataFrame, our_racer: str, things: str = "boards", mark: str = ""):
    """Compares our environment with others, for a number of boards of the reader's choice; `mark`
    stands behind the title.
    """

    def draw(num_envs):
        chosen = times[times["num_envs"] == num_envs]
        return draw_bars(chosen, our_racer, f"{num_envs:,} {things}{mark}")

    return widgets.explore(draw, num_envs=widgets.counts_of(times, things))
