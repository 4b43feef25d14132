"""Figures of ranks: what each does in a step, and how a sum goes around a ring.

They are apart from what is measured, which ranks import as well: figures take seconds to import.
"""

import ipywidgets
import pandas as pd
import seaborn as sns

from rungs_course import plots, widgets
from rungs_course.nb05_mpi import WORKS, ring, typical_step


def draw_step(found: pd.DataFrame, steps: dict[str, int] | None = None):
    """Draws what each rank does when in a step, for each way in which boards are gathered.

    Args:
        found: of `rungs_course.nb05_mpi.works`.
        steps: which, by transport; None: of each one of median length.
    """
    chosen = steps or {each: typical_step(found, each) for each in found["transport"].unique()}
    figure, axes = plots.axes(8.0, 1.4 + 1.3 * len(chosen), nrows=len(chosen), squeeze=False)
    colors = (plots.BLACK, plots.SKY, plots.GREY, plots.BLUE, plots.ORANGE)
    looks = plots.fills(WORKS, colors)
    for each, (transport, number) in zip(axes[:, 0], chosen.items(), strict=True):
        rows = found[(found["transport"] == transport) & (found["step"] == number)]
        rows = rows.sort_values(["rank", "begin"])
        names = "rank " + rows["rank"].astype(str)
        pieces = rows.assign(row=names, kind=rows["work"], start=rows["begin"])
        plots.timeline_bars(each, pieces, looks, 1e6)
        _draw_order(each, rows[rows["work"] == "order"])
        _draw_meetings(each, rows[rows["work"] == "agree"])
        each.set_title(f"{transport}, step {number}", fontsize="medium")
    axes[-1, 0].set_xlabel("microseconds since the order")
    plots.legend_below(figure, looks, len(WORKS))
    return figure


def _draw_order(axes, rows: pd.DataFrame) -> None:
    """Draws the order's way from rank 0 to each of the others."""
    first, *others = rows.itertuples()
    for row in others:
        ends = (row.end * 1e6, row.rank - 0.3), (first.begin * 1e6, 0.3)
        axes.annotate("", *ends, arrowprops={"arrowstyle": "->", "color": plots.BLACK})


def _draw_meetings(axes, rows: pd.DataFrame) -> None:
    """Draws when the last rank came to each meeting."""
    for moment in rows["begin"].groupby(rows.groupby("rank").cumcount()).max() * 1e6:
        axes.axvline(moment, linestyle=":", color=plots.BLACK, linewidth=1)


def explore_step(found: pd.DataFrame):
    """Shows any of the steps that were followed.

    Args:
        found: of `rungs_course.nb05_mpi.works`.
    """
    transports = found["transport"].unique().tolist()
    numbers, first = sorted(set(found["step"])), typical_step(found, transports[0])
    return widgets.explore(
        lambda transport, number: draw_step(found, {transport: number}),
        transport=ipywidgets.ToggleButtons(options=transports, description="by"),
        number=widgets.slider(numbers, first, "step"),
    )


def draw_ring(ranks: int):
    """Draws an all-reduce around a ring: how many ranks' numbers are summed where, by round.

    Args:
        ranks: how many.
    """
    counts = ring(ranks)
    rounds = len(counts)
    figure, axes = plots.axes(1.2 * rounds + 0.6, 1.9, ncols=rounds, sharey=True, squeeze=False)
    for number, (each, now) in enumerate(zip(axes[0], counts, strict=True)):
        whole = {"vmin": 0, "vmax": ranks, "cmap": "Blues", "cbar": False, "linewidths": 1}
        sns.heatmap(now, annot=True, ax=each, square=True, **whole)
        each.set_title("before" if not number else f"round {number}", fontsize="small")
        each.set_xlabel("part", fontsize="small")
        each.tick_params(length=0, rotation=0)
    axes[0, 0].set_ylabel("rank")
    return figure
