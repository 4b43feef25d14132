"""Figures of a GPU's threads: the lanes of a warp in its loops, and what a warp fetches."""

import functools

import pandas as pd

from rungs_course import plots, widgets

# Bytes of a GPU's cache lines and of their sectors, and threads of a warp.
LINE, SECTOR, WARP = 128, 32, 32
_LOOPS = {
    "keys": "past positions compared",
    "planes": "planes looked through for the action",
}
_SHOWN = 8  # lines of memory


def draw_warp(followed: pd.DataFrame, ply: int | None = None, lanes: int = WARP):
    """Draws the lanes of the first warp in both loops of a ply, by default the last: how long each
    works, and how long it waits.
    """
    last = followed["ply"].max()
    in_ply = followed["ply"] == (last if ply is None else ply)
    rows = followed[in_ply & (followed["board"] < lanes)].set_index("board")
    figure, axes = plots.axes(8.0, 1.9 + 0.1 * lanes, ncols=2)
    looks = plots.fills(("works", "waits for its warp"), (plots.BLUE, "white"))
    looks["waits for its warp"]["edgecolor"] = plots.GREY
    for panel, (loop, title) in zip(axes, _LOOPS.items(), strict=True):
        works, longest = rows[loop], rows[loop].max()
        table = pd.concat([works, longest - works], axis=1, keys=list(looks))
        plots.stacked_bars(panel, table, looks)
        share = works.mean() / longest if longest else 1
        panel.set_title(f"{title}\n{share:.0%} at work", fontsize="medium")
        panel.set_xlabel("times around the loop")
        ticks = range(0, lanes, max(1, lanes // 8))
        panel.set_yticks(ticks, [f"lane {lane}" for lane in ticks])
        panel.grid(False)
    figure.suptitle(f"A warp of {lanes} lanes in one ply")
    plots.legend_below(figure, looks, 2)
    return figure


def explore_warp(followed: pd.DataFrame):
    """Shows the first warp in a ply, and of a size, of the reader's choice."""
    sizes = [size for size in (4, 8, 16, 32, 64) if size <= followed["board"].nunique()]
    plies = sorted(followed["ply"].unique().tolist())
    return widgets.explore(
        functools.partial(draw_warp, followed),
        ply=widgets.slider(plies, plies[-1], "ply"),
        lanes=widgets.slider(sizes, min(WARP, sizes[-1]), "lanes"),
    )


def draw_layouts(words: pd.DataFrame):
    """Draws the lines of memory that threads fetch, and which words of them are asked for."""
    groups = words.groupby("layout", sort=False)
    figure, axes = plots.axes(9.5, 3.4, ncols=len(groups))
    names = ("asked for", "fetched as well", "not fetched")
    looks = plots.fills(names, (plots.BLUE, plots.SKY, "white"))
    looks["not fetched"] |= {"edgecolor": plots.GREY, "hatch": ""}
    for panel, (name, rows) in zip(axes, groups, strict=True):
        lines = sorted(rows["line"].unique())[:_SHOWN]
        visible = rows[rows["line"].isin(lines)]
        place = visible["line"].map(lines.index)
        word, sector = visible["byte"] % LINE / 8, visible["byte"] % LINE // SECTOR * (SECTOR // 8)
        panel.barh(range(len(lines)), LINE // 8, **looks["not fetched"])
        panel.barh(place, SECTOR // 8, left=sector, **looks["fetched as well"])
        panel.barh(place, 1, left=word, **looks["asked for"])
        for at, boards in visible.groupby(place)["board"]:
            first, last = boards.min(), boards.max()
            text = f"boards {first} to {last}" if last > first else f"board {first}"
            panel.text(LINE // 8 + 0.5, at, text, va="center", fontsize="x-small")
        sectors = rows["sector"].nunique()
        used = 8 * len(rows) / (SECTOR * sectors)
        panel.set_title(f"{name}:\n{sectors} sectors, {used:.0%} used", fontsize="medium")
        panel.set_yticks(range(len(lines)), [f"byte {line * LINE:,}" for line in lines])
        panel.set_xticks([0, LINE // 8], ["0", f"{LINE} bytes"])
        panel.set_ylim(_SHOWN - 0.4, -0.6)
        panel.set_xlim(0, 1.7 * LINE // 8)
        panel.grid(False)
    figure.suptitle("Memory that a warp reads for the first word of 32 boards", fontsize="medium")
    plots.legend_below(figure, looks, 3)
    return figure
