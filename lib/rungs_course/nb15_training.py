"""Notebook 15, training: its estimate beside its measurement, and the learning curves."""

import ipywidgets
import pandas as pd
from IPython.display import display

from rungs._src.train.ppo import PARTS
from rungs_course import plots


def confront(
    ladder: pd.DataFrame, metrics: pd.DataFrame, slow: str = "python", fast: str = "threads"
) -> pd.DataFrame:
    """Puts an estimate of what a rung gains in training beside what training gained.

    The estimate is (rest + slow) / (rest + fast). It is taken once as 07 made it and once with the
    rest of an update as it was in training: that tells two reasons for a difference apart.

    Returns:
        A row each for "07, estimated", "07's generation, 15's rest" and "15, measured": `what`,
        `slow` and `fast` (seconds of generating, per position), `rest` (seconds of the rest, by the
        fast rung), `gain`.
    """
    facts = ladder.attrs["provenance"]
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


def explore_learning(evaluations: pd.DataFrame):
    """Shows the learning curves over steps or over time."""

    def show(over):
        display(plots.image(draw_learning(evaluations, over)))

    over = ipywidgets.ToggleButtons(options=["steps", "seconds"], description="over")
    return ipywidgets.interactive(show, over=over)
