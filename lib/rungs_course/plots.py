"""The style of all figures, figures as files and images, and the figures of several notebooks."""

import base64
import html
import io
import sys
from collections.abc import Container, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import matplotlib.patches
import matplotlib.pyplot as plt
import matplotlib.ticker
import numpy as np
import pandas as pd
from IPython.display import HTML

from rungs.devel import atomic_write

# Seaborn imports scipy for densities and trees, which no figure here has, and does without where it
# is missing: two of the five seconds that a kernel's imports take.
_unneeded = {"scipy.stats", "scipy.cluster"} - sys.modules.keys()
sys.modules.update(dict.fromkeys(_unneeded))  # type: ignore[arg-type]  # None: can't be imported
try:
    import seaborn
finally:
    for _name in _unneeded:
        del sys.modules[_name]

# Distinct for people of any colour vision: Okabe and Ito's colours, as seaborn has them.
_PALETTE = seaborn.color_palette("colorblind").as_hex()
BLUE, ORANGE, GREEN, RED, PINK, BROWN, _, GREY, _, SKY = _PALETTE
BLACK = "#000000"
# To distinguish areas without colour, and lines that have no markers.
HATCHES = ("", "///", "...", "xxx", "\\\\\\")
# Annotated, as mypy infers different types of such a tuple in different runs.
LINESTYLES: tuple[str | tuple[int, tuple[int, ...]], ...] = (
    "-",
    "-.",
    (0, (1, 1)),
    (0, (6, 1, 1, 1, 1, 1)),
    (0, (3, 3)),
)
# Lines in the order they are drawn.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p", "h")
# After them Paul Tol's, for figures with more lines than Okabe and Ito have colours.
_MORE = ("#332288", "#882255", "#999933", "#661100", "#AA4499")
COLORS = (BLUE, ORANGE, GREEN, RED, PINK, BROWN, BLACK, GREY, SKY, *_MORE)
# Lines of seaborn through repeats: their medians, and the band between their quartiles.
MEDIANS = {"estimator": "median", "errorbar": ("pi", 50)}


def axes(width: float = 7.0, height: float = 4.0, **settings):
    """Makes a figure and its axes (an array, with `nrows` or `ncols`) in the common style."""
    with seaborn.axes_style("ticks", {"axes.grid": True, "grid.color": "#EEEEEE"}):
        figure, result = plt.subplots(figsize=(width, height), layout="constrained", **settings)
    seaborn.despine(figure)
    plt.close(figure)  # shown where a cell returns it, and only there
    return figure, result


def lines(groups: Iterable[tuple[Any, Any]]) -> Iterator[tuple[Any, Any, dict]]:
    """Yields the groups of a frame, each with a unique pair of marker and colour for its line."""
    for i, (name, rows) in enumerate(groups):
        lap = i // len(COLORS)  # markers move on when colours begin again
        marker, color = MARKERS[(i + lap) % len(MARKERS)], COLORS[i % len(COLORS)]
        yield name, rows, {"marker": marker, "color": color}


def fills(names: Sequence[str], colors: Sequence[str]) -> dict[str, dict]:
    """Returns the look of some areas, and of their patches in a legend: colour and hatch."""
    # Colab's matplotlib is older than 3.11: its hatches have the edges' colour.
    newer = {"hatchcolor": BLACK} if hasattr(matplotlib.patches.Patch, "set_hatchcolor") else {}
    return {
        name: {"facecolor": color, "hatch": hatch, "edgecolor": "white", **newer}
        for name, color, hatch in zip(names, colors, HATCHES[: len(names)], strict=True)
    }


def stacked_bars(axes, table: pd.DataFrame, looks: dict[str, dict]) -> None:
    """Draws a row of a table as a stacked bar, a part per column, the first row on top."""
    left = np.zeros(len(table))
    for part in table:
        axes.barh(table.index, table[part], left=left, **looks[part])
        left += table[part].to_numpy()
    axes.invert_yaxis()


def timeline_bars(axes, pieces: pd.DataFrame, looks: dict[str, dict], scale: float = 1) -> None:
    """Draws pieces of work over time, a row of bars for each process, the first on top.

    Pieces have `row`, `kind`, `start` and `end` in seconds; the axis has `scale` units in a second.
    """
    rows = pieces["row"].unique().tolist()
    for kind, pieces_of_kind in pieces.groupby("kind", sort=False):
        lengths = (pieces_of_kind["end"] - pieces_of_kind["start"]) * scale
        places = [rows.index(row) for row in pieces_of_kind["row"]]
        axes.barh(places, lengths, left=pieces_of_kind["start"] * scale, height=0.7, **looks[kind])
    axes.set_yticks(range(len(rows)), rows)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.grid(False)


def box(axes, corner: tuple[float, float], size: tuple[float, float], text: str, **look) -> None:
    """Draws a rounded box of a diagram, with a text in its middle; `look` may have the font's."""
    font = {name: look.pop(name) for name in ("fontsize", "fontweight") if name in look}
    (x, y), (width, height) = corner, size
    look = {"boxstyle": "round,pad=0.02,rounding_size=0.1", "edgecolor": BLACK} | look
    axes.add_patch(matplotlib.patches.FancyBboxPatch(corner, width, height, **look))
    middle = {"ha": "center", "va": "center", "fontsize": 9}
    axes.text(x + width / 2, y + height / 2, text, **middle | font)


def legend_below(figure, looks: dict[str, dict], columns: int) -> None:
    """Names the areas of a figure below it; `looks` is from `fills`."""
    handles = [matplotlib.patches.Patch(label=name, **look) for name, look in looks.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False)


def legend_beside(axes) -> None:
    """Names the lines to the right of the axes, where none runs through the names."""
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)


def median_line(axes, groups, label: str, look: dict) -> None:
    """Draws the medians of groups over what they are grouped by, and their quartiles as a band."""
    repeats = groups.apply(list).explode()
    values = {"x": repeats.index.to_list(), "y": repeats.to_list()}
    look = {"label": label, "legend": False, "markeredgewidth": 0} | look
    seaborn.lineplot(**values, ax=axes, **MEDIANS, **look)


def median_lines(axes, frame: pd.DataFrame, names: str, x: str, y: str) -> None:
    """Draws a `median_line` of column `y` over `x` for each value of column `names`."""
    for name, rows, look in lines(frame.groupby(names, sort=False)):
        median_line(axes, rows.groupby(x)[y], f"{name}", look)


def band_line(axes, rows, x: str, y: str, label: str | None, look: dict) -> None:
    """Draws a column of a frame over another, and the band from its `low` to its `high`."""
    axes.plot(rows[x], rows[y], label=label, **look)
    axes.fill_between(rows[x], rows["low"], rows["high"], color=look["color"], alpha=0.2)


def numbers_below(axes, things: str, values: Iterable[int] = ()) -> None:
    """Puts numbers of things, in powers of two, below the horizontal axis: `values`, if any, but
    some ten at most.
    """
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(matplotlib.ticker.LogLocator(base=2, numticks=7))
    axes.xaxis.set_major_formatter(lambda number, _: f"{number:,.10g}")
    axes.set_xlabel(things)
    if ticks := sorted(set(values)):
        ticks = ticks[:: -(-len(ticks) // 10)]
        million = 1_000_000
        texts = [f"{n:,}" if n < million else f"{n / million:.3g} M" for n in ticks]
        axes.set_xticks(ticks, texts)
        axes.minorticks_off()


def bytes_below(axes, things: str) -> None:
    """Puts sizes of things in bytes, in powers of two, below the horizontal axis."""
    numbers_below(axes, things)
    axes.xaxis.set_major_formatter(_size)


def _size(num_bytes: float, _) -> str:
    for scale, unit in ((2**20, "MiB"), (2**10, "KiB")):
        if num_bytes >= scale:
            return f"{num_bytes / scale:.0f} {unit}"
    return f"{num_bytes:.0f} B"


def training_below(figure, axes, over: str) -> None:
    """Puts what was trained for, "steps" or "seconds", below the axis, and the lines' names."""
    axes.set_xlim(0, None)
    axes.set_xlabel({"steps": "steps played", "seconds": "seconds of training"}[over])
    figure.legend(loc="outside lower center", ncols=3, frameon=False)


def medians(
    frame: pd.DataFrame,
    names: str,
    x: str,
    y: str,
    *,
    things: str,
    quantity: str,
    title: str = "",
    log: bool = True,
):
    """Draws a figure of `median_lines` over numbers of things."""
    figure, panel = axes(height=4.6)
    median_lines(panel, frame, names, x, y)
    if log:
        panel.set_yscale("log")
    else:
        panel.set_ylim(0, None)
    panel.set(ylabel=quantity, title=title)
    numbers_below(panel, things, frame[x])
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    return figure


def speed(value: float) -> str:
    """Writes a rate in plies per second as a person would say it: "9.3 k/s", "4.85 M/s"."""
    for scale, suffix in ((1e9, " G/s"), (1e6, " M/s"), (1e3, " k/s")):
        if value >= 0.9995 * scale:  # which rounds to it
            return f"{value / scale:.3g}{suffix}"
    return f"{value:.3g}/s"


def ratio(value: float) -> str:
    """Writes a factor: "1.49×", "774×", "12,300×"."""
    return f"{value:.3g}×" if value < 999.5 else f"{value:,.0f}×"


def duration(seconds: float) -> str:
    """Writes a time with the unit that suits it: "43 ms", "110 µs"."""
    for scale, suffix in ((1, " s"), (1e-3, " ms"), (1e-6, " µs")):
        if seconds >= 0.9995 * scale:
            return f"{seconds / scale:.3g}{suffix}"
    return f"{seconds / 1e-9:.3g} ns"


def save_figure(figure, path: Path) -> None:
    """Writes a Matplotlib figure as PNG, whole or not at all."""
    with atomic_write(Path(path)) as unfinished:
        figure.savefig(unfinished, dpi=150)


def image(figure) -> HTML:
    """Makes an image of a figure with `alternative` as its alt text, no wider than the page."""
    png = io.BytesIO()
    figure.savefig(png, dpi=150)
    data = base64.b64encode(png.getvalue()).decode()
    width = round(100 * figure.get_figwidth())
    return HTML(
        f'<img src="data:image/png;base64,{data}" alt="{html.escape(alternative(figure))}" '
        f'width="{width}" style="max-width: 100%; height: auto">'
    )


def same_axes(figure, other) -> None:
    """Gives the axes of two figures, pair by pair, the same limits and ticks.

    Images are left as they are, and so are axes whose ticks name different things.
    """
    if len(figure.axes) != len(other.axes):
        return
    for pair in zip(figure.axes, other.axes, strict=True):
        if any(axes.images for axes in pair):
            continue
        for name in ("xaxis", "yaxis"):
            _same_axis([getattr(axes, name) for axes in pair])


def _same_axis(pair) -> None:
    """Gives two horizontal or two vertical axes the same limits and ticks, unless their ticks name
    different things; on a logarithmic axis the names are numbers, and each gets those of both.
    """
    if any(axis.have_units() for axis in pair):
        return
    first, second = (_names_of_ticks(axis) for axis in pair)
    if first != second and pair[0].get_scale() != "log":
        return
    limits = np.concatenate([axis.get_view_interval() for axis in pair])
    for axis in pair:
        if first or second:
            names = first | second
            axis.set_ticks(list(names), list(names.values()))
        both = sorted((limits.min(), limits.max()), reverse=bool(axis.get_inverted()))
        axis.axes.set(**{f"{axis.axis_name}lim": both})


def _names_of_ticks(axis) -> dict[float, str]:
    """Returns the texts that stand at places of an axis, where they are fixed."""
    if not isinstance(axis.get_major_locator(), matplotlib.ticker.FixedLocator):
        return {}
    places = axis.get_majorticklocs()
    # Not of its labels: a panel that shares another's axis shows none.
    return dict(zip(places, axis.get_major_formatter().format_ticks(places), strict=True))


def alternative(figure) -> str:
    """Describes a figure: titles and axes, the text in it, and where its lines begin and end."""
    said = (text for axes in figure.axes for text in _said(axes))
    return ". ".join(" ".join(text.split()) for text in said if text) + "."


def _said(axes):
    yield axes.get_title()
    yield " over ".join(filter(None, (axes.get_ylabel(), axes.get_xlabel())))
    # Text next to a bar describes the bar.
    bars = len(axes.containers) > 0
    names = [label.get_text() for label in axes.get_yticklabels()]
    rows = dict(zip(axes.get_yticks(), names, strict=True)) if bars and names else {}
    for text in axes.texts:
        name = rows.get(getattr(text, "xy", (0, None))[1])
        yield f"{name}: {text.get_text()}" if name else text.get_text()
    for line in axes.lines:
        named = not line.get_label().startswith("_")  # Matplotlib's mark of unnamed artists
        if named and len(line.get_xdata()):  # a line without points explains the lines' style
            ends = zip(line.get_xdata(), line.get_ydata(), strict=True)
            first, *_, last = [f"{y:,.3g} at {x:,.3g}" for x, y in ends] * 2
            yield f"{line.get_label()}: {first}" + (f" to {last}" if last != first else "")


def gains(
    frame: pd.DataFrame,
    baseline: str,
    ideal: int | None = None,
    oversubscribed: Container[str] = (),
    title: str = "",
):
    """Draws how many times as fast as `baseline` each racer of `over_boards.gains` is, over the
    number of boards.

    `ideal` is a gain drawn as the bound; racers in `oversubscribed`, with more threads or processes
    than cores, are marked.
    """
    figure, panel = axes(height=3.6)
    for racer, rows, look in lines(frame.groupby("racer", sort=False)):
        too_many = racer in oversubscribed
        look |= {"linestyle": ":", "markerfacecolor": "white"} if too_many else {}
        label = f"{racer} (oversubscribed)" if too_many else racer
        band_line(panel, rows, "num_envs", "gain", label, look)
    panel.axhline(1, color=BLACK, linewidth=1)
    if ideal:
        look = {"color": BLACK, "linestyle": "--", "linewidth": 1}
        panel.axhline(ideal, label=f"ideal, {ideal}×", **look)
    panel.set_ylim(0, None)
    panel.set(ylabel=f"times as fast as {baseline}", title=title)
    numbers_below(panel, "boards", frame["num_envs"])
    legend_beside(panel)
    return figure


def repeats(rates: pd.DataFrame, unit: str, title: str):
    """Draws rates, first on top: a bar for each median, a dot for each repeat; `rates` has `rate`,
    `name` and `racer`.
    """
    figure, panel = axes(height=1.4 + 0.45 * rates["name"].nunique())
    palette = COLORS[: rates["racer"].nunique()]
    row_kwargs = {"x": "rate", "y": "name", "hue": "racer", "palette": palette, "legend": False}
    bars = {"estimator": "median", "errorbar": None, "alpha": 0.5, "saturation": 1}
    seaborn.barplot(rates, ax=panel, **bars, **row_kwargs)
    seaborn.stripplot(rates, jitter=False, ax=panel, **row_kwargs)
    panel.set(xlabel=f"{unit} (dots: repeats, bars: medians)", ylabel="", title=title)
    return figure


def parts(updates: pd.DataFrame, names: str, title: str):
    """Draws the parts of an update's time, a stacked bar for each of some systems; a part that is
    less than a thousandth of the longest bar is left out.
    """
    medians = updates.groupby([names, "part"], sort=False)["seconds"].median().unstack() * 1e3
    totals = medians.sum(axis=1).sort_values(ascending=False)
    medians = medians.loc[totals.index]
    figure, panel = axes(height=1.6 + 0.5 * len(medians))
    order = updates["part"].drop_duplicates()  # as an update does them
    looks = fills(order, (ORANGE, BLACK, GREY, SKY))
    looks = {part: looks[part] for part in order if medians[part].max() > totals.max() / 1000}
    stacked_bars(panel, medians[[*looks]], looks)
    shares = zip(totals, medians["generate"] / totals, strict=True)
    texts = [f"{duration(total / 1e3)}, {share:.1%} to generate" for total, share in shares]
    panel.bar_label(panel.containers[-1], texts, padding=4)
    panel.margins(x=0.45)
    panel.set_xlim(0, None)
    panel.set_xlabel("milliseconds per update")
    legend_below(figure, looks, 4)
    panel.set_title(title)
    return figure


def rates(times: pd.DataFrame, things: str, title: str):
    """Draws steps per second over the number of environments, a line for each racer."""
    values = times.assign(rate=times["plies"] / times["seconds"])
    quantity = f"steps per second of all {things} together"
    at = ("racer", "num_envs", "rate")
    return medians(values, *at, things=things, quantity=quantity, title=title)


def step_times(times: pd.DataFrame, things: str = "boards", title: str = "Time per step"):
    """Draws the time of a step of all over their number (chess study's figure 2, CartPole's 4)."""
    values = times.assign(step=times["seconds"] / times["plies"] * times["num_envs"])
    quantity = f"seconds per step of all {things}"
    at = ("racer", "num_envs", "step")
    return medians(values, *at, things=things, quantity=quantity, title=title)
