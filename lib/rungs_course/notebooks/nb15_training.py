"""Notebook 15, training: the same learning curves on several rungs, their times and estimates."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import ipywidgets
import pandas as pd

from rungs.devel.train import PARTS
from rungs.errors import MismatchError
from rungs.train import Learner, Training
from rungs_course import peers, plots, widgets
from rungs_course.learners import train_each


def train_on(
    names: Sequence[str],
    training: Training,
    out: Path,
    *,
    last: float | None = None,
    say=print,
) -> tuple[pd.DataFrame, pd.DataFrame, Learner]:
    """Trains on one rung (or peer) after the other, each in a folder of its own; `last` are the
    last one's seconds.

    Returns all runs' `metrics.csv` and `evaluations.csv`, with a column `rung`; and the learner of
    the last, as it ended.
    """
    runs = [({"rung": name}, dataclasses.replace(training, rung=name)) for name in names]
    if last:
        runs[-1] = (runs[-1][0], dataclasses.replace(runs[-1][1], seconds=last))
    metrics, evaluations, learner = train_each(runs, out, make=peers.make, say=say)
    for table in (metrics, evaluations):
        check_same(table)
    return metrics, evaluations, learner


def check_same(table: pd.DataFrame) -> None:
    """Raises `MismatchError` where rungs of `train_on` differ in more than time, as far as they
    went.
    """
    learnt = table.drop(columns=["seconds", *PARTS], errors="ignore").set_index("update")
    first = learnt["rung"].iloc[0]
    expected = learnt[learnt["rung"] == first]
    for update, row in learnt.iterrows():
        if update in expected.index:
            for name, value in row.drop("rung").items():
                if value != expected.loc[update, name]:
                    raise MismatchError(
                        f"update {update}: {name} is {value} with {row['rung']}, "
                        f"{expected.loc[update, name]} with {first}"
                    )


def seconds_to(evaluations: pd.DataFrame, metrics: pd.DataFrame, wins: float) -> pd.DataFrame:
    """Returns how long each rung takes to a share of games won.

    All rungs need the same updates. For one that did not come that far, the time of this many
    updates is estimated from the median of its own. A row per rung: `rung`, `seconds_per_update`
    (the median), `updates` needed, `seconds`, and `measured`, whether it came that far. Empty where
    none did.
    """
    far = evaluations[evaluations["wins"] >= wins * evaluations["games"]]
    per_update = metrics.groupby("rung", sort=False)[list(PARTS)].median().sum(axis=1)
    table = per_update.rename("seconds_per_update").reset_index()
    if far.empty:
        return table.iloc[:0]
    updates = far["update"].min()
    reached = far[far["update"] == updates].set_index("rung")["seconds"]
    table["updates"] = updates
    table["seconds"] = table["rung"].map(reached).fillna(updates * table["seconds_per_update"])
    table["measured"] = table["rung"].isin(reached.index)
    return table


def estimates(metrics: pd.DataFrame) -> pd.DataFrame:
    """Compares what rungs gain in training with the estimate from their speed alone.

    The estimate is 07's: all but generating takes as long as with the first rung. Returns a row per
    rung: `rung`, `generate` and `rest`, median seconds of an update, and `measured` and
    `estimated`, times as fast as with the first rung.
    """
    parts = metrics.groupby("rung", sort=False)[list(PARTS)].median()
    table = pd.DataFrame({"generate": parts["generate"]})
    table["rest"] = parts.drop(columns="generate").sum(axis=1)
    update_seconds, rest = table.sum(axis=1), table["rest"].iloc[0]
    table["measured"] = update_seconds.iloc[0] / update_seconds
    table["estimated"] = update_seconds.iloc[0] / (table["generate"] + rest)
    return table.reset_index()


def confront(ladder: pd.DataFrame, metrics: pd.DataFrame) -> pd.DataFrame:
    """Compares an estimate of what `threads` gains over `python` in training with the measurement.

    The estimate is (rest + slow) / (rest + fast). It is taken once as 07 made it and once with the
    rest of an update as it was in training, which separates two reasons for a difference. Returns a
    row each for "07, estimated", "07's generation, 15's rest" and "15, measured": `what`, `slow`
    and `fast` (seconds of generating, per position), `rest` (seconds of the rest, by the fast
    rung), `gain`.
    """
    slow, fast, facts = "python", "threads", ladder.attrs["provenance"]
    boards = int(facts["num_envs"])
    estimated = ladder.set_index("rung")["seconds"] / boards
    rest = float(facts["rest_of_batch_seconds"]) / boards
    # All rungs have the same updates, and so as many positions in each.
    positions = (metrics["steps"] / metrics["update"]).groupby(metrics["rung"]).median()
    parts = metrics.groupby("rung")[list(PARTS)].median().div(positions, axis=0)
    totals = parts.sum(axis=1)
    trained = totals - parts["generate"]
    rows = [
        ("07, estimated", estimated[slow], estimated[fast], rest),
        ("07's generation, 15's rest", estimated[slow], estimated[fast], trained[fast]),
        ("15, measured", parts["generate"][slow], parts["generate"][fast], trained[fast]),
    ]
    table = pd.DataFrame(rows, columns=["what", "slow", "fast", "rest"])
    table["gain"] = (table["rest"] + table["slow"]) / (table["rest"] + table["fast"])
    table.loc[2, "gain"] = totals[slow] / totals[fast]
    return table


def draw_learning(evaluations: pd.DataFrame, over: str):
    """Draws the score against the random opponent as it grows, with 95 % intervals."""
    figure, axes = plots.axes(height=4.4)
    groups = plots.lines(evaluations.groupby("rung", sort=False))
    if over == "steps":
        once = evaluations.sort_values("steps").drop_duplicates("steps")
        plots.band_line(axes, once, over, "score", "all rungs", {"color": plots.GREY})
        for rung, rows, look in groups:
            last = rows.iloc[-1]
            axes.plot(last["steps"], last["score"], label=f"end of {rung}", ls="none", **look)
    else:
        for rung, rows, look in groups:
            plots.band_line(axes, rows, over, "score", rung, look)
    axes.axhline(0.5, color=plots.BLACK, linestyle=":", linewidth=1)
    axes.set_ylim(0.4, 1.0)
    axes.set_ylabel("score per game against random play")
    plots.training_below(figure, axes, over)
    titles = {"steps": "Over steps all rungs have the same score", "seconds": "Score over time"}
    axes.set_title(titles[over])
    return figure


def explore_learning(evaluations: pd.DataFrame):
    """Shows the learning curves over steps or over time."""
    over = ipywidgets.ToggleButtons(options=["steps", "seconds"], description="over")
    return widgets.explore(lambda over: draw_learning(evaluations, over), over=over)
