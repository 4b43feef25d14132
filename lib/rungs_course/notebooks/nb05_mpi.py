"""What ranks do in a step, from their calls of MPI; what messages take; and a sum around a ring."""

import ipywidgets
import numpy as np
import pandas as pd

from rungs_course import plots, widgets
from rungs_course.measure.link import Link, fit

# Parts of a rank's step, in the order of time.
WORKS = ("order", "check", "agree", "play", "send")
_BY = {"shared": "With shared memory", "messages": "By messages"}
LATE = 1e-3  # seconds after which the other rank receives what was sent early


def works(calls: pd.DataFrame) -> pd.DataFrame:
    """Derives what ranks do in each step, from their calls of MPI and the time between.

    Returns a row per piece of work: `transport`, `rank`, `step`, `work` (of `WORKS`), `begin`,
    `end`, in seconds from the moment when rank 0 gives that step's order. Resets are left out, and
    the waiting of other ranks before an order.
    """
    frames = []
    for (transport, rank), rank_calls in calls.groupby(["transport", "rank"], sort=False):
        order = "MPI_Wait" if rank == 0 else "MPI_Test"
        rank_calls = rank_calls.assign(
            step=(rank_calls["call"] == order).cumsum(), transport=transport, rank=rank
        )
        rank_calls.loc[rank_calls["call"] == "MPI_Ibcast", "step"] += 1  # it begins the order
        frames += [_pieces(rows) for _, rows in rank_calls.groupby("step")]
    pieces = pd.concat([frame for frame in frames if len(frame)], ignore_index=True)
    starts = pieces[(pieces["rank"] == 0) & (pieces["work"] == "order")]
    starts = starts.set_index(["transport", "step"])["begin"]
    keys = pd.MultiIndex.from_frame(pieces[["transport", "step"]])
    pieces = pieces[keys.isin(starts.index)]
    start = starts.loc[pd.MultiIndex.from_frame(pieces[["transport", "step"]])].to_numpy()
    return pieces.assign(begin=pieces["begin"] - start, end=pieces["end"] - start)


def _pieces(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns a rank's pieces of work in one step; an empty frame where it is not a step."""
    meetings = rows[rows["call"] == "MPI_Allreduce"]
    begun = rows[rows["call"].isin(["MPI_Wait", "MPI_Test"])]
    columns = ["transport", "rank", "step", "work", "begin", "end"]
    if len(meetings) != 2 or not len(begun):
        return pd.DataFrame(columns=columns)
    rank, ordered = rows["rank"].iloc[0], begun["end"].iloc[0]
    pieces = [("order", rows["begin"].iloc[0] if rank == 0 else ordered, ordered)]
    agree, done = meetings.itertuples()
    sent = rows[rows["call"].isin(["MPI_Scatterv", "MPI_Igatherv", "MPI_Waitall"])]
    before, after = sent[sent["end"] <= agree.begin], sent[sent["begin"] >= agree.end]
    if len(before):
        ordered = before["end"].iloc[-1]
        pieces.append(("send", before["begin"].iloc[0], ordered))
    pieces += [("check", ordered, agree.begin), ("agree", agree.begin, agree.end)]
    played = after["begin"].iloc[0] if len(after) else done.begin
    pieces.append(("play", agree.end, played))
    if len(after):
        pieces.append(("send", played, after["end"].iloc[-1]))
    pieces.append(("agree", done.begin, done.end))
    step_key = (rows["transport"].iloc[0], rank, rows["step"].iloc[0])
    return pd.DataFrame([(*step_key, *piece) for piece in pieces], columns=columns)


def typical_step(pieces: pd.DataFrame, transport: str) -> int:
    """Returns the step of `works` whose length is the median."""
    rows = pieces[pieces["transport"] == transport]
    lengths = rows.groupby("step")["end"].max().sort_values()
    return int(lengths.index[len(lengths) // 2])


def shares(pieces: pd.DataFrame) -> pd.DataFrame:
    """Returns which share of a step, 0 to 1, rank 0 spends on each of `WORKS`: a row per transport
    and step (the index), a column per work.
    """
    root = pieces[pieces["rank"] == 0]
    keys = [root[name] for name in ("transport", "step", "work")]
    took = (root["end"] - root["begin"]).groupby(keys).sum()
    took = took.unstack().reindex(columns=WORKS).fillna(0)
    return took.div(took.sum(axis=1), axis=0)


def costs(pieces: pd.DataFrame, num_envs: int) -> pd.DataFrame:
    """Returns what each step on ranks that share memory cost: `ply` and `meeting`, in seconds.

    `ply` is one rank's time for a board; `meeting` is what a step takes beyond its boards.
    """
    rows = pieces[pieces["transport"] == "shared"]
    ranks = rows["rank"].nunique()
    took = (rows["end"] - rows["begin"]).groupby([rows["step"], rows["rank"], rows["work"]]).sum()
    took = took.unstack()
    busy = took[["check", "play"]].sum(axis=1).groupby("step").max()
    step_seconds = rows[rows["rank"] == 0].groupby("step")["end"].max()
    return pd.DataFrame({"ply": busy * ranks / num_envs, "meeting": step_seconds - busy})


def draw_step(pieces: pd.DataFrame, steps: dict[str, int] | None = None):
    """Draws what each rank does when in a step, for each way in which boards are gathered; by
    default in one of median length.
    """
    chosen = steps or {
        transport: typical_step(pieces, transport) for transport in pieces["transport"].unique()
    }
    figure, axes = plots.axes(8.0, 1.7 + 1.3 * len(chosen), nrows=len(chosen), squeeze=False)
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
        panel.set_title(f"{_BY[transport]}, step {number}", fontsize="medium")
    figure.suptitle("What ranks do in a step")
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


def border(times: pd.DataFrame) -> tuple[int, int] | None:
    """Finds between which two sizes the protocol changes.

    Returns the largest size of which `MPI_Send` returns before the other rank receives, in the
    median of its repeats, and the next one; None where all sizes, or none, do so.
    """
    sends = times[times["what"] == "send"].groupby("bytes")["seconds"].median()
    returns = sends.index[sends < LATE / 2]
    waits = sends.index[(sends >= LATE / 2) & (sends.index > returns.max())]
    return (int(returns.max()), int(waits.min())) if len(returns) and len(waits) else None


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
    plots.bytes_below(sends, "size of the message")
    return figure


def draw_ring(counts: np.ndarray):
    """Draws how many ranks' numbers are in each part of a sum: (rounds + 1, ranks, parts)."""
    figure, axes = plots.axes(1.2 * len(counts) + 0.6, 2.3, ncols=len(counts), sharey=True)
    for number, (panel, now) in enumerate(zip(axes, counts, strict=True)):
        panel.imshow(now, vmin=0, vmax=counts.max(), cmap="Blues")
        for (rank, part), count in np.ndenumerate(now):
            color = "white" if 2 * count > counts.max() else plots.BLACK
            panel.text(part, rank, count, ha="center", va="center", color=color)
        panel.set_title("before" if not number else f"round {number}", fontsize="small")
        panel.set_xlabel("part", fontsize="small")
        panel.set(xticks=range(len(now)), yticks=range(len(now)))
        panel.tick_params(length=0)
        panel.grid(False)
    axes[0].set_ylabel("rank")
    figure.suptitle("Parts of a sum around a ring: how many ranks' numbers they contain")
    return figure
