"""Figures of ranks: what each does in a step, and how a sum goes around a ring."""

import ipywidgets
import pandas as pd
import seaborn as sns
from IPython.display import display

from rungs_course import plots
from rungs_course.nb05_mpi import WORKS, ring, typical_step
from rungs_course.plots import image


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
        ranks = rows["rank"].nunique()
        for row in rows.itertuples():
            where = {"left": row.begin * 1e6, "height": 0.6}
            each.barh(row.rank, (row.end - row.begin) * 1e6, **where, **looks[row.work])
        _order(each, rows[rows["work"] == "order"])
        _meetings(each, rows[rows["work"] == "agree"], ranks)
        each.set_yticks(range(ranks), [f"rank {rank}" for rank in range(ranks)])
        each.set_ylim(ranks - 0.4, -0.6)
        each.grid(False)
        each.set_title(f"{transport}, step {number}", fontsize="medium")
    axes[-1, 0].set_xlabel("microseconds since the order")
    plots.legend_below(figure, looks, len(WORKS))
    return figure


def _order(axes, rows: pd.DataFrame) -> None:
    """Draws the order's way from rank 0 to each of the others."""
    begun = rows.loc[rows["rank"] == 0, "begin"].iloc[0] * 1e6
    for row in rows[rows["rank"] > 0].itertuples():
        arrow = {"arrowstyle": "->", "color": plots.BLACK}
        axes.annotate("", (row.end * 1e6, row.rank - 0.3), (begun, 0.3), arrowprops=arrow)


def _meetings(axes, rows: pd.DataFrame, ranks: int) -> None:
    """Draws when the last rank came to each meeting."""
    turns = rows.sort_values("begin").groupby("rank").cumcount()
    for moment in rows.sort_values("begin").groupby(turns)["begin"].max() * 1e6:
        axes.plot([moment, moment], [-0.5, ranks - 0.5], ":", color=plots.BLACK, linewidth=1)


def explore_step(found: pd.DataFrame):
    """Shows any of the steps that were followed.

    Args:
        found: of `rungs_course.nb05_mpi.works`.
    """
    transports = found["transport"].unique().tolist()

    def show(transport, number):
        display(image(draw_step(found, {transport: number})))

    numbers = sorted(set(found["step"]))
    return ipywidgets.interactive(
        show,
        transport=ipywidgets.ToggleButtons(options=transports, description="by"),
        number=ipywidgets.SelectionSlider(
            options=numbers, value=typical_step(found, transports[0]), description="step"
        ),
    )


def ring_rounds(ranks: int):
    """Draws an all-reduce around a ring: whose numbers are summed where, after each round.

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
