"""Notebook 15, training: the same learning curves on several rungs, their times and estimates."""

from collections.abc import Sequence

import ipywidgets
import pandas as pd

from rungs.devel.train import PARTS
from rungs.errors import MismatchError
from rungs_course import plots, widgets
from rungs_course.measure.noise import Factor, factor

REST = tuple(part for part in PARTS if part != "generate")  # of an update's parts


def check_same(table: pd.DataFrame) -> None:
    """Raises `MismatchError` where the runs of several rungs, `metrics.csv` or `evaluations.csv` of
    all with a column `rung`, differ in more than time, as far as they went.
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


def update_seconds(metrics: pd.DataFrame, parts: Sequence[str] = PARTS) -> pd.DataFrame:
    """Returns the seconds of an update's parts: a row per update and a column per rung, NaN where a
    rung did not get that far.

    The first update, which warms up, is left out.
    """
    seconds = metrics.assign(seconds=metrics[list(parts)].sum(axis=1))
    wide = seconds.pivot(index="update", columns="rung", values="seconds")
    return wide.loc[wide.index > 1, metrics["rung"].unique()]


def gains(metrics: pd.DataFrame, reference: str, parts: Sequence[str] = PARTS) -> dict[str, Factor]:
    """Returns how many times as fast as on `reference` an update is on each rung, by its name.

    Updates of the same number are compared, as all rungs learn from the same games there: games
    and their positions change as an agent learns.
    """
    seconds = update_seconds(metrics, parts)
    return {rung: factor((seconds[reference] / seconds[rung]).dropna()) for rung in seconds.columns}


def seconds_to(evaluations: pd.DataFrame, metrics: pd.DataFrame, wins: float) -> pd.DataFrame:
    """Returns how long each rung takes to a share of games won.

    All rungs need the same updates. For one that did not get that far, the time is that of the last
    rung, over the gain in the updates that both have. A row per rung: `rung`, `seconds_per_update`
    (the median), `updates` needed, `seconds`, and `measured`, whether it got that far. Empty where
    none did.
    """
    after = evaluations[evaluations["update"] > 0]
    reached = after[after["wins"] >= wins * after["games"]]
    table = update_seconds(metrics).median().rename("seconds_per_update").reset_index()
    if reached.empty:
        return table.iloc[:0]
    updates = reached["update"].min()
    seconds = metrics[metrics["update"] == updates].set_index("rung")["seconds"]
    last = seconds.index[-1]
    relative = pd.Series({rung: gain.middle for rung, gain in gains(metrics, last).items()})
    table["updates"] = updates
    table["seconds"] = (
        table["rung"].map(seconds).fillna(seconds[last] / table["rung"].map(relative))
    )
    table["measured"] = table["rung"].isin(seconds.index)
    return table


def estimates(metrics: pd.DataFrame) -> pd.DataFrame:
    """Compares what rungs gain in training with the estimate from their speed alone.

    The estimate is 07's: all but generating takes as long as with the first rung. All is of the
    updates that every rung has. Returns a row per rung: `rung`, `generate` and `rest`, median
    seconds of an update, and `measured` and `estimated`, times as fast as with the first rung.
    """
    first = metrics["rung"].iloc[0]
    generate = update_seconds(metrics, ["generate"]).dropna()
    rest = update_seconds(metrics, REST).dropna()
    before = generate[first] + rest[first]
    table = pd.DataFrame(
        {
            "generate": generate.median(),
            "rest": rest.median(),
            "measured": (generate + rest).rdiv(before, axis=0).median(),
            "estimated": generate.add(rest[first], axis=0).rdiv(before, axis=0).median(),
        }
    )
    return table.reset_index()


def draw_learning(evaluations: pd.DataFrame, over: str):
    """Draws the score against the random opponent as it grows, with 95 % intervals."""
    evaluations = evaluations[evaluations["update"] > 0]
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
    plots.numbers_below(axes, axes.get_xlabel())  # logarithmic: a faster rung moves the curve
    axes.autoscale(axis="x")
    titles = {"steps": "Over steps all rungs have the same score", "seconds": "Score over time"}
    axes.set_title(titles[over])
    return figure


def explore_learning(evaluations: pd.DataFrame):
    """Shows the learning curves over steps or over time."""
    over = ipywidgets.ToggleButtons(options=["steps", "seconds"], description="over")
    return widgets.explore(lambda over: draw_learning(evaluations, over), over=over)
