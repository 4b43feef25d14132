"""Figures of ranks: what each does in a step, what messages take, and a sum around a ring.

They are apart from the measurements, which ranks import as well: figures take seconds to import.
"""

import dataclasses

import ipywidgets
import numpy as np
import pandas as pd
import seaborn as sns

from rungs_course import plots, widgets
from rungs_course.measure.cost import Link, fit
from rungs_course.notebooks.nb05_messages import LATE, border
from rungs_course.notebooks.nb05_mpi import WORKS, StepCost, ring, typical_step


def draw_step(pieces: pd.DataFrame, steps: dict[str, int] | None = None):
    """Draws what each rank does when in a step, for each way in which boards are gathered; by
    default in one of median length.
    """
    chosen = steps or {
        transport: typical_step(pieces, transport) for transport in pieces["transport"].unique()
    }
    figure, axes = plots.axes(8.0, 1.4 + 1.3 * len(chosen), nrows=len(chosen), squeeze=False)
    colors = (plots.BLACK, plots.SKY, plots.GREY, plots.BLUE, plots.ORANGE)
    looks = plots.fills(WORKS, colors)
    for panel, (transport, number) in zip(axes[:, 0], chosen.items(), strict=True):
        rows = pieces[(pieces["transport"] == transport) & (pieces["step"] == number)]
        rows = rows.sort_values(["rank", "begin"])
        names = "rank " + rows["rank"].astype(str)
        bars = rows.assign(row=names, kind=rows["work"], start=rows["begin"])
        plots.timeline_bars(panel, bars, looks, 1e6)
        _draw_order(panel, rows[rows["work"] == "order"])
        _draw_meetings(panel, rows[rows["work"] == "agree"])
        panel.set_title(f"{transport}, step {number}", fontsize="medium")
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


def explore_step(pieces: pd.DataFrame):
    """Shows any of the steps that were followed."""
    transports = pieces["transport"].unique().tolist()
    numbers, first = sorted(set(pieces["step"])), typical_step(pieces, transports[0])
    return widgets.explore(
        lambda transport, number: draw_step(pieces, {transport: number}),
        transport=ipywidgets.ToggleButtons(options=transports, description="by"),
        number=widgets.slider(numbers, first, "step"),
    )


def fit_links(times: pd.DataFrame) -> dict[str, Link]:
    """Fits a latency and a bandwidth to the medians of trips, on each side of the `border`.

    Returns the link of each protocol, "eager" and "rendezvous", or of "all sizes" where no border
    was found. Fewer than three sizes, to which two numbers can always be fitted, have none.
    """
    links = {}
    for name, medians in _by_protocol(times).items():
        if len(medians) < 3:
            continue
        latency, per_byte = fit([(1, size) for size in medians.index], medians)
        with np.errstate(divide="ignore"):
            links[name] = Link(float(latency), float(1 / per_byte))
    return links


def _by_protocol(times: pd.DataFrame) -> dict[str, pd.Series]:
    """Returns the medians of trips by size, for each protocol."""
    trips = times[times["what"] == "trip"].groupby("bytes")["seconds"].median()
    edge = border(times)
    if not edge:
        return {"all sizes": trips}
    return {"eager": trips.loc[: edge[0]], "rendezvous": trips.loc[edge[1] :]}


def draw_messages(times: pd.DataFrame):
    """Draws a message's time over its size, and how long a send waits for a late receiver."""
    figure, (trips, sends) = plots.axes(7.5, 5.2, nrows=2, sharex=True)
    edge = border(times)
    look = {"marker": "o", "color": plots.BLUE}
    for panel, kind in ((trips, "trip"), (sends, "send")):
        seconds = times[times["what"] == kind].set_index("bytes")["seconds"] * 1e6
        plots.median_line(panel, seconds.groupby(level=0), "measured", look | {"linestyle": ""})
    looks = zip((plots.ORANGE, plots.GREEN), ("--", "-."), strict=True)
    sizes = {name: medians.index.to_numpy() for name, medians in _by_protocol(times).items()}
    for (name, link), (color, style) in zip(fit_links(times).items(), looks, strict=False):
        micro = 1e6 * (link.latency + sizes[name] / link.bandwidth)
        trips.plot(sizes[name], micro, color=color, linestyle=style, label=f"fitted, {name}")
    sends.axhline(LATE * 1e6, color=plots.BLACK, linestyle="--", label="the receiver is ready")
    for panel in (trips, sends):
        panel.set_yscale("log")
        if edge:
            panel.axvline(np.sqrt(edge[0] * edge[1]), color=plots.GREY, linestyle=":")
        plots.legend_beside(panel)
    trips.set(title="Time of a message, by its size", ylabel="microseconds")
    sends.set(title="Time in MPI_Send, if the receiver is late", ylabel="microseconds")
    plots.numbers_below(sends, "bytes of the message")
    return figure


def draw_ring(ranks: int):
    """Draws an all-reduce around a ring: how many ranks' numbers are summed where, by round."""
    counts = ring(ranks)
    rounds = len(counts)
    figure, axes = plots.axes(1.2 * rounds + 0.6, 1.9, ncols=rounds, sharey=True, squeeze=False)
    for number, (panel, now) in enumerate(zip(axes[0], counts, strict=True)):
        heatmap_kwargs = {"vmin": 0, "vmax": ranks, "cmap": "Blues", "cbar": False, "linewidths": 1}
        sns.heatmap(now, annot=True, ax=panel, square=True, **heatmap_kwargs)
        panel.set_title("before" if not number else f"round {number}", fontsize="small")
        panel.set_xlabel("part", fontsize="small")
        panel.tick_params(length=0, rotation=0)
    axes[0, 0].set_ylabel("rank")
    return figure


_RANKS = [1, 2, 4, 8, 16, 32, 64]


def draw_speedups(cost: StepCost, boards: int, ranks: int, measured: pd.DataFrame):
    """Draws the speed-up that a cost predicts over ranks, and what was measured: `num_envs`,
    `ranks`, `speedup`; the number `ranks` is marked.
    """
    figure, axes = plots.axes(height=3.6)
    gains = [float(cost.speedup(np.array(boards), number)) for number in _RANKS]
    axes.plot(_RANKS, _RANKS, "--", color=plots.BLACK, linewidth=1, label="ideal")
    label = f"predicted: {boards:,} boards, synchronisation {plots.duration(cost.meeting)}"
    axes.plot(_RANKS, gains, "o-", color=plots.BLUE, label=label)
    gain = float(cost.speedup(np.array(boards), ranks))
    axes.plot(ranks, gain, "D", color=plots.ORANGE, markersize=9, label=f"{ranks} ranks")
    axes.annotate(plots.ratio(gain), (ranks, gain), (8, -12), textcoords="offset points")
    here = measured[measured["num_envs"] == boards]
    if len(here):
        look = {"color": plots.BLACK, "markersize": 13, "label": "measured here"}
        axes.plot(here["ranks"], here["speedup"], "*", **look)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_ylim(min(0.25, min(gains) / 1.5), None)
    axes.set_xlabel("ranks")
    axes.set_ylabel("speed relative to one")
    axes.legend(frameon=False)
    axes.set_title("Ranks × boards")
    return figure


def explore_ranks(cost: StepCost, measured: pd.DataFrame):
    """Shows what ranks gain, for boards, ranks and a meeting's time of the reader's choice."""

    def draw(boards, ranks, microseconds):
        changed = dataclasses.replace(cost, meeting=microseconds * 1e-6)
        return draw_speedups(changed, boards, ranks, measured)

    counts = sorted({2**power for power in range(15)} | set(measured["num_envs"]))
    fitted = round(cost.meeting * 1e6, 2)
    choices = sorted({fitted, 0.1, 0.5, 1, 2, 5, 10, 50, 200})
    return widgets.explore(
        draw,
        boards=widgets.slider(counts, max(measured["num_envs"]), "boards"),
        ranks=widgets.slider(_RANKS, 2, "ranks"),
        microseconds=widgets.slider(choices, fitted, "µs per sync"),
    )
