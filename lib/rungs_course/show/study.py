"""Figures with the study's own numbers in them."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import seaborn

from rungs_course.machine.roofline import Processor, attainable
from rungs_course.show import style


def rooflines(processors: Sequence[tuple[Processor, Processor]], points: pd.DataFrame):
    """Draws the study's two rooflines with its points, as it drew them and counted in bytes.

    Args:
        processors: each as the study has it, and put right.
        points: of `rungs_course.studies.papi_table.points`.
    """
    figure, axes = style.axes(width=8.0, height=4.6, ncols=len(processors), sharey=True)
    intensity = np.geomspace(0.02, 300, 400)
    looks = {"hue": "name", "style": "per", "palette": style.COLORS[:2], "s": 70}
    shown = points.assign(performance=points["performance"] / 1e9)
    for each, (theirs, corrected) in zip(axes, processors, strict=True):
        for processor, line in ((theirs, "-"), (corrected, "--")):
            roof = attainable(intensity, processor.peak_flops(64), processor.peak_bandwidth())
            each.plot(intensity, roof / 1e9, line, color=style.BLACK, linewidth=1.2)
        at = {"data": shown, "x": "intensity", "y": "performance"}
        seaborn.scatterplot(**at, **looks, zorder=3, legend=each is axes[-1], ax=each)
        each.set_xscale("log")
        each.set_yscale("log")
        each.set_xlabel("operations per access, or per byte")
        each.set_ylabel("Gop/s (the study: Gflop/s)")
        each.grid(color="#EEEEEE")
        each.set_title(theirs.name)
    handles, labels = axes[-1].get_legend_handles_labels()
    axes[-1].get_legend().remove()
    # Without the headings of the two kinds.
    named = [pair for pair in zip(handles, labels, strict=True) if pair[1] not in ("name", "per")]
    handles, labels = zip(*named, strict=True)
    labels = [label if label in set(points["name"]) else f"per {label}" for label in labels]
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return figure


def shares(table: pd.DataFrame):
    """Draws our counts as multiples of the study's, which is 1.

    Args:
        table: a row per counter: `count`, `study`, `ours`, per board and step.
    """
    figure, axes = style.axes(height=1.6 + 0.5 * len(table))
    share = table["ours"] / table["study"]
    seaborn.scatterplot(y=table["count"], x=share, color=style.BLUE, s=80, ax=axes)
    axes.axvline(1, color=style.BLACK, linestyle="--")
    for at, row in enumerate(table.assign(share=share).itertuples()):
        axes.hlines(at, row.share, 1, color=style.BLUE)
        text = f"{style.ratio(row.share)}  ({_count(row.ours)} beside {_count(row.study)})"
        axes.annotate(
            text, (row.share, at), (0, 8), textcoords="offset points", fontsize="small", ha="left"
        )
    axes.set_xscale("log")
    axes.set_xlim(min(share.min(), 1) / 2, max(share.max(), 1) * 20)
    axes.set_ylim(len(table) - 0.5, -0.7)
    axes.set_xlabel("times the study's count, per board and step (dashed: the study)")
    axes.set_ylabel("")
    axes.set_title("The study's counters, and ours beside them")
    return figure


def _count(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
