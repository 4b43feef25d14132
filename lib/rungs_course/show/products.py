"""A figure of the matrix product in several versions."""

import pandas as pd

from rungs_course.show import style


def ladder(table: pd.DataFrame, peaks: dict[int, float]):
    """Draws how many operations a second each version does, and the peaks that bound them.

    Args:
        table: of `rungs_course.studies.products.table`.
        peaks: floating-point operations a second at most, by number of threads.
    """
    sizes = list(table["n"].unique())
    rows = len(table) // len(sizes)
    figure, axes = style.axes(9.0, 1.6 + 0.4 * rows, ncols=len(sizes), sharey=True, squeeze=False)
    for each, n in zip(axes[0], sizes, strict=True):
        here = table[table["n"] == n].reset_index(drop=True)
        rates = here["per_second"] / 1e9
        several = here["threads"] > 1
        for mask, color, hatch in ((~several, style.BLUE, ""), (several, style.ORANGE, "///")):
            each.barh(here.index[mask], rates[mask], color=color, hatch=hatch, edgecolor="white")
        for i, (rate, share) in enumerate(zip(rates, here["share"], strict=True)):
            text, white = (
                f"{rate:.3g}, {share:.0%}",
                {"facecolor": "white", "linewidth": 0, "pad": 1},
            )
            at = {"textcoords": "offset points", "va": "center", "bbox": white}
            each.annotate(text, (rate, i), (4, 0), **at)
        for threads, peak in peaks.items():
            each.axvline(peak / 1e9, color=style.BLACK, linestyle="--", zorder=0)
            on = "1 core" if threads == 1 else f"{threads} cores"
            side = "right" if threads == min(peaks) else "left"
            text = each.text(peak / 1e9, -0.7, f" {on} ", ha=side, fontsize="small")
            text.set_in_layout(False)
        each.set_xscale("log")
        each.set_xlim(rates.min() / 2, max(peaks.values()) / 1e9 * 8)
        each.set_xlabel("Gflop/s (logarithmic), and share of the peak")
        each.set_title(f"matrices of {n} × {n}", pad=16)
    names = [f"{row.idea}  [{row.version}, {row.threads}]" for row in here.itertuples()]
    axes[0, 0].set_yticks(range(rows), names)
    axes[0, 0].invert_yaxis()
    return figure
