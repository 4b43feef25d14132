"""Figures of the Python rung: how it ages, and what it would gain if a part became faster."""

import ipywidgets
import numpy as np
import pandas as pd
import seaborn as sns
from IPython.display import display

from rungs_course import plots
from rungs_course.plots import image
from rungs_course.studies.counting import amdahl

_FACTORS = np.geomspace(1, 100, 60)


def aging(times: pd.DataFrame):
    """Draws what a ply takes as the games get older: medians of three segments, and their range.

    Args:
        times: of `rungs_course.studies.counting.race_counting`, raced without a warm-up.
    """
    figure, axes = plots.axes(height=3.6)
    steps = (times["plies"] // times["num_envs"]).iloc[0]
    length = steps + -(-steps // 4)  # a race plays a quarter more, untimed
    group = times["repeat"] // 3
    shown = times.assign(
        age=(3 * group + 1.5) * length, microseconds=times["seconds"] / times["plies"] * 1e6
    )
    look = {"hue": "racer", "style": "racer", "palette": [plots.ORANGE, plots.BLUE]}
    look |= {"markers": ["o", "s"], "estimator": "median", "errorbar": ("pi", 100)}
    sns.lineplot(shown, x="age", y="microseconds", ax=axes, **look)
    axes.set_ylim(0, None)
    axes.set_xlabel("plies since the first game began")
    axes.set_ylabel("microseconds per ply")
    axes.legend(frameon=False)
    axes.grid(color="#EEEEEE")
    axes.set_title("The same games, as they get older")
    return figure


def amdahl_lines(shares: pd.DataFrame, chosen: str, times_as_fast: float):
    """Draws what the whole gains over how many times as fast a part becomes, a line for each part.

    Args:
        shares: of `rungs_course.measure.profile.share_of_step`: `part` and `share` (0 to 1).
        chosen: the part whose line is marked, and its limit.
        times_as_fast: where it is marked.
    """
    figure, axes = plots.axes(width=8.0, height=4.2)
    share = shares.set_index("part")["share"]
    ends = amdahl(share, _FACTORS[-1]).sort_values()
    gap = 0.055 * (1 / (1 - share.max()) - 1)
    above = 0.0
    for part, end in ends.items():
        above = max(end, above + gap)  # names that would lie on one another are moved up
        marked = part == chosen
        look = {"color": plots.BLUE if marked else plots.GREY, "linewidth": 2.5 if marked else 1.2}
        axes.plot(_FACTORS, amdahl(share[part], _FACTORS), label=part, zorder=2 + marked, **look)
        words = {"fontweight": "bold" if marked else "normal", "fontsize": "small"}
        axes.text(_FACTORS[-1] * 1.06, above, f"{part}, {share[part]:.0%}", va="center", **words)
    limit, gained = 1 / (1 - share[chosen]), amdahl(share[chosen], times_as_fast)
    axes.axhline(limit, color=plots.BLUE, linestyle="--", linewidth=1)
    axes.text(1.05, limit, f"if it took no time: {plots.ratio(limit)}", va="bottom")
    axes.plot(times_as_fast, gained, "o", color=plots.BLUE, markersize=9, zorder=4)
    axes.set_xscale("log")
    axes.set_xlim(1, _FACTORS[-1])
    axes.set_xticks([1, 2, 5, 10, 20, 50, 100], ["1×", "2×", "5×", "10×", "20×", "50×", "100×"])
    axes.minorticks_off()
    axes.set_ylim(1 - gap, 1 / (1 - share.max()) + 2 * gap)
    axes.set_xlabel("how many times as fast that part becomes")
    axes.set_ylabel("how many times as fast a step becomes")
    axes.set_title(f"{chosen} {times_as_fast:g} times as fast: a step {plots.ratio(gained)}")
    axes.grid(color="#EEEEEE")
    return figure


def explore_amdahl(shares: pd.DataFrame):
    """Shows what a step gains where a part of the reader's choice becomes faster.

    Args:
        shares: of `rungs_course.measure.profile.share_of_step`.
    """

    def show(part, faster):
        display(image(amdahl_lines(shares, part, faster)))

    return ipywidgets.interactive(
        show,
        part=ipywidgets.Dropdown(options=shares["part"].tolist(), description="part"),
        faster=ipywidgets.SelectionSlider(
            options=[1, 1.5, 2, 3, 5, 10, 20, 50, 100], value=10, description="faster, ×"
        ),
    )
