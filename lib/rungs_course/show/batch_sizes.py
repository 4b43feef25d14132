"""Figures of rungs over numbers of boards."""

import pandas as pd

from rungs_course.show import style
from rungs_course.studies.batch_sizes import ALONE, IN_SITU

_LINES = {ALONE: "-", IN_SITU: (0, (4, 2))}


def rates(table: pd.DataFrame, limits: pd.DataFrame, mask: str):
    """Draws each rung's plies per second over the number of boards, alone and in situ, and bounds.

    Args:
        table: of `rungs_course.studies.batch_sizes.summary`.
        limits: of `rungs_course.studies.batch_sizes.bounds`.
        mask: the format that is shown.
    """
    figure, axes = style.axes(height=4.8)
    chosen = table[table["mask"] == mask]
    for racer, rows, look in style.lines(chosen.groupby("racer", sort=False)):
        for where, own in rows.groupby("where", sort=False):
            label = racer if where == ALONE else None
            stroke = {"linestyle": _LINES[where]}
            style.band_line(axes, own, "num_envs", "plies_per_second", label, look | stroke)
    axes.plot([], [], color=style.BLACK, linestyle=_LINES[IN_SITU], label="in situ")
    for threads, own in limits[limits["mask"] == mask].groupby("threads"):
        label = f"bound: writing on {threads} thread{'s' * (threads > 1)}"
        axes.plot(
            own["num_envs"],
            own["plies_per_second"],
            color=style.GREY,
            linestyle=":",
            linewidth=1 + threads,
            label=label,
        )
    axes.set_yscale("log")
    axes.set_ylabel("plies per second")
    style.numbers_below(axes, "boards")
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    axes.set_title(f"Every number of boards, {mask} masks")
    return figure
