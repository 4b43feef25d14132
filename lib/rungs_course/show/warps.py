"""Figures of a GPU's threads: a warp whose lanes part, and what they fetch from memory."""

import ipywidgets
import pandas as pd
from IPython.display import display

from rungs_course import plots
from rungs_course.plots import image
from rungs_course.studies.cuda import LINE, SECTOR, WARP

_LOOPS = {
    "keys": "past positions compared",
    "planes": "planes looked through for the action",
}
_SHOWN = 8  # lines of memory


def warp(followed: pd.DataFrame, ply: int, lanes: int = WARP):
    """Draws the lanes of the first warp in both loops: how long each works, and how long it waits.

    Args:
        followed: of `rungs_course.studies.cuda.follow`.
        ply: which.
        lanes: threads of a warp.
    """
    rows = followed[(followed["ply"] == ply) & (followed["board"] < lanes)]
    figure, axes = plots.axes(8.0, 1.6 + 0.1 * lanes, ncols=2)
    looks = plots.fills(("works", "waits for its warp"), (plots.BLUE, "white"))
    looks["waits for its warp"]["edgecolor"] = plots.GREY
    for each, (loop, title) in zip(axes, _LOOPS.items(), strict=True):
        longest = rows[loop].max()
        each.barh(rows["board"], rows[loop], **looks["works"])
        each.barh(
            rows["board"], longest - rows[loop], left=rows[loop], **looks["waits for its warp"]
        )
        share = rows[loop].mean() / longest if longest else 1
        each.set_title(f"{title}\n{share:.0%} at work", fontsize="medium")
        each.set_xlabel("times around the loop")
        shown = range(0, lanes, max(1, lanes // 8))
        each.set_yticks(shown, [f"lane {lane}" for lane in shown])
        each.invert_yaxis()
        each.grid(False)
    plots.legend_below(figure, looks, 2)
    return figure


def explore_warp(followed: pd.DataFrame):
    """Shows the first warp in a ply, and of a size, of the reader's choice.

    Args:
        followed: of `rungs_course.studies.cuda.follow`.
    """

    def show(ply, lanes):
        display(image(warp(followed, ply, lanes)))

    boards = followed["board"].nunique()
    sizes = [size for size in (4, 8, 16, 32, 64) if size <= boards]
    plies = sorted(followed["ply"].unique().tolist())
    return ipywidgets.interactive(
        show,
        ply=ipywidgets.SelectionSlider(options=plies, value=plies[-1], description="ply"),
        lanes=ipywidgets.SelectionSlider(
            options=sizes, value=min(WARP, sizes[-1]), description="lanes"
        ),
    )


def layouts(found: pd.DataFrame):
    """Draws the lines of memory that threads fetch, and which words of them are asked for.

    Args:
        found: of `rungs_course.studies.cuda.fetched`.
    """
    names = found["layout"].unique()
    figure, axes = plots.axes(8.0, 3.2, ncols=len(names))
    names_of = ("asked for", "fetched as well", "not fetched")
    looks = plots.fills(names_of, (plots.BLUE, plots.SKY, "white"))
    looks["not fetched"] |= {"edgecolor": plots.GREY, "hatch": ""}
    for each, (name, rows) in zip(axes, found.groupby("layout", sort=False), strict=True):
        lines = sorted(rows["line"].unique())
        for place, line in enumerate(lines[:_SHOWN]):
            here = rows[rows["line"] == line]
            for word in range(LINE // 8):
                fetched = (line * LINE + 8 * word) // SECTOR in set(here["sector"])
                look = looks["fetched as well" if fetched else "not fetched"]
                each.barh(place, 0.94, left=word, height=0.8, linewidth=0.5, **look)
            for row in here.itertuples():
                word = row.byte % LINE / 8
                each.barh(place, 0.94, left=word, height=0.8, linewidth=0.5, **looks["asked for"])
                text = each.text(
                    word + 0.47, place, row.board, ha="center", va="center", fontsize=6
                )
                text.set_color("white")
        sectors = rows["sector"].nunique()
        used = 8 * len(rows) / (SECTOR * sectors)
        each.set_title(f"{name}: {sectors} sectors, {used:.0%} used", fontsize="medium")
        each.set_yticks(
            range(len(lines[:_SHOWN])), [f"byte {line * LINE:,}" for line in lines[:_SHOWN]]
        )
        each.set_xticks([0, LINE // 8], ["0", f"{LINE} bytes"])
        each.set_ylim(_SHOWN - 0.4, -0.6)
        each.grid(False)
    plots.legend_below(figure, looks, 3)
    return figure
