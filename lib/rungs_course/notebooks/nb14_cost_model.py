"""A model of what training costs on more processes than there are here.

Parallel learners play boards of their own, and average their gradients before each step of the
optimizer. An update of p of them takes

    T(p) = compute * slowdown(p) + all-reduce(p)

where `compute` is the time of one process alone, and `slowdown` how many times as long p processes
take, until the last is done, that compute in parallel and exchange nothing: on one machine they
share cores, caches and memory, on nodes of their own it is 1. All three are measured apart from
what they predict. Waiting for each other at every message is not in the model.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import matplotlib.patches
import matplotlib.ticker
import numpy as np
import pandas as pd

from rungs_course import plots, widgets
from rungs_course.measure.link import Link, fit
from rungs_course.measure.noise import Factor, factor
from rungs_course.measure.quartiles import quartiles
from rungs_course.notebooks.nb14_ranks import PARTS

COMPUTE = ("generate", "infer", "backward")


class Line(NamedTuple):
    """Seconds that grow linearly with a number of things: a fixed part, and a part for each."""

    fixed: float
    slope: float

    def __call__(self, count):
        return self.fixed + self.slope * count


# Messages that each of p processes sends one after the other in an all-reduce: around a ring to add
# up and around again to distribute; or to partners at halved and then at doubled distances, where p
# is rounded up to a power of two.
ROUNDS = {
    "ring": lambda p: 2 * (p - 1),
    "halving": lambda p: 2 * math.ceil(math.log2(p)),
}


def all_reduce_seconds(
    processes: int, num_bytes: float, link: Link, *, messages: int = 1, algorithm: str = "ring"
) -> float:
    """Returns seconds until all of p processes have the sum of what each of them had.

    Every process sends, and receives, 2 (p - 1) / p times the bytes there are: fewer is not
    possible (Patarasuk and Yuan, 2009, J. Parallel Distrib. Comput. 69, 117). A ring, as Gloo's,
    does so in 2 (p - 1) rounds, Rabenseifner's halving and doubling in 2 log2 p (Thakur,
    Rabenseifner and Gropp, 2005, Int. J. High Perform. Comput. Appl. 19, 49). Adding up is not
    counted. The bytes are divided among `messages` all-reduces, one after the other.
    """
    moved = 2 * (processes - 1) / processes * num_bytes
    return messages * ROUNDS[algorithm](processes) * link.latency + moved / link.bandwidth


def fit_link(messages: pd.DataFrame, processes: int = 2) -> Link:
    """Finds the link that explains the all-reduces of some processes best, by their medians."""
    chosen = messages[messages["processes"] == processes]
    seconds = chosen.groupby("bytes")["seconds"].median()
    rounds, share = ROUNDS["ring"](processes), 2 * (processes - 1) / processes
    terms = [(rounds, share * num_bytes) for num_bytes in seconds.index]
    latency, per_byte = fit(terms, seconds)
    return Link(float(latency), float(1 / per_byte))


def message_errors(messages: pd.DataFrame, link: Link) -> pd.DataFrame:
    """Returns how far the formula of a ring is from medians, by number of processes and size.

    Its columns are `processes`, `bytes` and `error` (predicted / measured - 1).
    """
    seconds = messages.groupby(["processes", "bytes"], as_index=False)["seconds"].median()
    sizes = zip(seconds["processes"], seconds["bytes"], strict=True)
    predicted = [all_reduce_seconds(p, size, link) for p, size in sizes]
    return seconds[["processes", "bytes"]].assign(error=predicted / seconds["seconds"] - 1)


@dataclasses.dataclass(frozen=True)
class Update:
    """The cost of an update."""

    parts: dict[str, Line]  # seconds of a process alone on a core, by part of `COMPUTE`
    messages: int  # all-reduces
    num_bytes: int  # of gradients, in all messages

    def compute(self, positions):
        """Returns seconds of all parts, without any exchange."""
        return sum(line(positions) for line in self.parts.values())

    def seconds(
        self,
        processes: int,
        positions,
        link: Link,
        *,
        slowdown: float = 1.0,
        algorithm: str = "ring",
        speed: float = 1.0,
    ):
        """Predicts the seconds of an update.

        `positions` are each process's, a number or an array; `slowdown` is how many times as long
        computing takes side by side as alone, `speed` how many times as fast as here each process
        computes.
        """
        exchange = all_reduce_seconds(
            processes, self.num_bytes, link, messages=self.messages, algorithm=algorithm
        )
        return self.compute(positions) / speed * slowdown + exchange


def fit_update(updates: pd.DataFrame) -> Update:
    """Finds the costs that explain the updates of one process best, by medians over repeats."""
    alone = updates[updates["processes"] == 1]
    medians = alone.groupby(["part", "positions"])["seconds"].median()
    lines = {}
    for part in COMPUTE:
        terms = [(1, positions) for positions in medians[part].index]
        lines[part] = Line(*map(float, fit(terms, medians[part])))
    return Update(lines, int(updates["messages"].max()), int(updates["bytes"].max()))


def slowdowns(updates: pd.DataFrame) -> pd.DataFrame:
    """Returns how many times as long parallel processes take, until all are done, as one alone: a
    row per number of processes, a column per repeat.
    """
    boards = updates["num_envs"] == _boards_together(updates)
    apart = updates[boards & (updates["exchange"] == "none")]
    seconds = apart.groupby(["processes", "repeat"])["seconds"].sum().unstack()
    return seconds / seconds.loc[1]


def check(
    updates: pd.DataFrame, update: Update, link: Link, slowdown: Mapping[int, float]
) -> pd.DataFrame:
    """Compares the model's predictions with what was measured, for every number of processes.

    Returns a row per number of processes, in seconds: `processes`; `measured`, where parts come one
    after the other, and its quartiles `low` and `high`; `overlapped`, as in training; `predicted`;
    `error` (predicted / measured - 1); each part's as "measured generate" and so on for `PARTS`,
    and "predicted generate" and so on for those that the model has; and how much longer it took
    than predicted: "more computing" until the last process was done, "more all-reduce" from then
    on.
    """
    rows = []
    for processes, group in _clocked(updates).groupby("processes"):
        positions, share = group["positions"].iloc[0], slowdown[processes]
        spread = quartiles(_whole(group), "measured")
        measured = group.groupby("part")["seconds"].median()
        predicted = {part: line(positions) * share for part, line in update.parts.items()}
        total = update.seconds(processes, positions, link, slowdown=share)
        computed = sum(predicted.values())
        predicted["all-reduce"] = total - computed
        as_in_training = updates[
            (updates["processes"] == processes) & (updates["exchange"] == "overlapped")
        ]
        row = {"processes": processes, **spread}
        row["overlapped"] = _whole(as_in_training if processes > 1 else group).median()
        row |= {"predicted": total, "error": total / spread["measured"] - 1}
        row |= {f"measured {part}": measured[part] for part in PARTS}
        row |= {f"predicted {part}": seconds for part, seconds in predicted.items()}
        row["more computing"] = measured[[*COMPUTE, "wait"]].sum() - computed
        row["more all-reduce"] = measured["all-reduce"] - predicted["all-reduce"]
        rows.append(row)
    return pd.DataFrame(rows)


def misses(updates: pd.DataFrame, checked: pd.DataFrame) -> dict[int, Factor]:
    """Returns predicted over measured seconds, by number of processes.

    The noise is that of the measured updates only, not that of what the model was fitted to.
    """
    measured = {count: _whole(group) for count, group in _clocked(updates).groupby("processes")}
    predicted = checked.set_index("processes")["predicted"]
    return {count: factor(seconds / measured[count]) for count, seconds in predicted.items()}


def _clocked(updates: pd.DataFrame) -> pd.DataFrame:
    """Returns the updates whose parts come one after the other, with equally many boards each."""
    exchange = np.where(updates["processes"] > 1, "in turn", "none")
    boards = updates["num_envs"] == _boards_together(updates)
    return updates[boards & (updates["exchange"] == exchange)]


def _whole(updates: pd.DataFrame) -> pd.Series:
    return updates.groupby("repeat")["seconds"].sum()


def _boards_together(updates: pd.DataFrame) -> int:
    """Returns the boards of each process in runs of more than one process."""
    return updates.loc[updates["processes"] > 1, "num_envs"].iloc[0]


def scale(update: Update, link: Link, nodes: Sequence[int], positions, **settings) -> pd.DataFrame:
    """Predicts updates on many nodes, each a process with a core of its own.

    Returns a row per number of nodes: `nodes`, `positions` (of each), `seconds` per update,
    `throughput` in positions per second of all, and `efficiency`, throughput over what that number
    of nodes would have if each had the first one's.
    """
    frame = pd.DataFrame({"nodes": nodes, "positions": positions})
    seconds = [update.seconds(p, n, link, **settings) for p, n in frame.itertuples(index=False)]
    frame["seconds"] = seconds
    frame["throughput"] = frame["nodes"] * frame["positions"] / frame["seconds"]
    frame["efficiency"] = frame["throughput"] / frame["nodes"] / frame["throughput"].iloc[0]
    return frame


def predict(
    update: Update,
    links: dict[str, tuple[Link, str]],
    nodes: Sequence[int],
    *,
    length: int,
    boards: int,
    boards_in_all: int,
    speed: float = 1.0,
) -> pd.DataFrame:
    """Predicts weak and strong scaling: tables of `scale`, with `scaling` ("weak" or "strong") and
    `interconnect`, the name of a link (link and algorithm of `ROUNDS`).

    `length` is steps of each board in an update; `boards` are each node's, `boards_in_all` shared
    among the nodes; a node computes `speed` times as fast as here.
    """
    shared = [boards_in_all * length / count for count in nodes]
    return pd.concat(
        scale(update, link, nodes, positions, algorithm=algorithm, speed=speed).assign(
            scaling=scaling, interconnect=name
        )
        for scaling, positions in (("weak", boards * length), ("strong", shared))
        for name, (link, algorithm) in links.items()
    )


def saving(before: float, after: float, inferring):
    """Returns the share of its time that a worker saves when its steps become faster.

    A worker steps and infers in turns, so this is Amdahl's law: where steps become free, it is the
    share of time that they had.
    """
    return (before - after) / (before + inferring)


def inferring_at(share: float, before: float, after: float) -> float:
    """Returns the seconds of inference per step that make `saving` `share`; <= 0 if none do."""
    return (before - after) / share - before


_FILLS = plots.fills(PARTS, (plots.SKY, plots.BLUE, plots.ORANGE, plots.GREY, plots.GREEN))

_HOLLOW = {"markerfacecolor": "white", "linestyle": "none"}


def draw_messages(times: pd.DataFrame, link: Link, cores: int):
    """Draws all-reduces over the size of messages: medians, quartiles, and the model's lines."""
    figure, axes = plots.axes(height=4.2)
    groups = plots.lines(times.groupby("processes"))
    for (processes, rows, look), linestyle in zip(groups, plots.LINESTYLES, strict=False):
        milliseconds = rows.set_index("bytes")["seconds"] * 1e3
        inside = "white" if processes > cores else look["color"]
        points = {"err_style": "bars", "linestyle": "none", "markeredgewidth": 1}
        points |= look | {"markerfacecolor": inside, "markeredgecolor": look["color"]}
        label = f"{_processes(processes, cores)}, measured"
        plots.median_line(axes, milliseconds.groupby(level=0), label, points)
        sizes = sorted(rows["bytes"].unique())
        line = [all_reduce_seconds(processes, size, link) * 1e3 for size in sizes]
        model = {"color": look["color"], "linestyle": linestyle}
        axes.plot(sizes, line, label=f"{processes} processes, model", **model)
    axes.set_yscale("log")
    plots.bytes_below(axes, "size of the message")
    axes.set_ylabel("milliseconds per all-reduce")
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize="small")
    axes.set_title("All-reduce over loopback (markers: medians and quartiles)")
    return figure


def _processes(processes: int, cores: int, between: str = " ") -> str:
    name = "1 process" if processes == 1 else f"{processes} processes"
    return name + (f"{between}(oversubscribed)" if processes > cores else "")


def draw_check(table: pd.DataFrame, cores: int):
    """Draws updates as measured and as predicted, part by part, and how far apart they are."""
    figure, axes = plots.axes(height=4.2)
    for at, row in enumerate(table.to_dict("records")):
        for kind, x in (("measured", at - 0.2), ("predicted", at + 0.2)):
            bottom = 0.0
            for part in PARTS:
                height = 1e3 * row.get(f"{kind} {part}", 0.0)
                axes.bar(x, height, 0.36, bottom=bottom, **_FILLS[part])
                bottom += height
        low, middle, high = (1e3 * row[name] for name in ("low", "measured", "high"))
        spread = [[middle - low], [high - middle]]
        axes.errorbar(at - 0.2, middle, yerr=spread, color=plots.BLACK, capsize=3)
        if row["processes"] > 1:
            axes.plot(at - 0.2, 1e3 * row["overlapped"], "D", color=plots.BLACK, **_HOLLOW)
        for text, x, top in (
            ("measured", at - 0.2, max(high, 1e3 * sum(row[f"measured {part}"] for part in PARTS))),
            (f"predicted\n{row['error']:+.0%}", at + 0.2, 1e3 * row["predicted"]),
        ):
            axes.annotate(
                text, (x, top), (0, 2), textcoords="offset points", ha="center", fontsize="small"
            )
    axes.set_xticks(range(len(table)), [_processes(p, cores, "\n") for p in table["processes"]])
    axes.margins(y=0.15)
    axes.set_ylabel("milliseconds per update")
    handles = [matplotlib.patches.Patch(label=part, **_FILLS[part]) for part in PARTS]
    handles += axes.plot([], [], "D", color=plots.BLACK, label="overlapped", **_HOLLOW)
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
    axes.set_title("An update, measured and predicted (bars: medians; line: quartiles)")
    return figure


def draw_nodes(
    scaled: pd.DataFrame,
    mark: int | None = None,
    title: str = "Computed by the model, not measured",
):
    """Draws throughput and efficiency over nodes, of `predict`, a line per interconnect."""
    figure, axes = plots.axes(width=8.0, height=6.4, nrows=2, ncols=2, sharex=True, sharey="row")
    titles = {"weak": "Weak: boards per node fixed", "strong": "Strong: boards in all fixed"}
    for column, (scaling, rows) in zip(axes.T, scaled.groupby("scaling", sort=False), strict=True):
        for name, frame, look in plots.lines(rows.groupby("interconnect", sort=False)):
            for panel, quantity in zip(column, ("throughput", "efficiency"), strict=True):
                panel.plot(frame["nodes"], frame[quantity], label=name, markersize=4, **look)
        ideal = frame["nodes"] * frame["throughput"].iloc[0]
        column[0].plot(frame["nodes"], ideal, color=plots.BLACK, linestyle="--", linewidth=1)
        column[0].set_title(titles[scaling])
        for panel, below in zip(column, ("", "nodes"), strict=True):
            panel.set_yscale("log")
            plots.numbers_below(panel, below)
        if mark:
            _write_efficiency(column[1], rows, mark)
    figure.suptitle(title)
    axes[0, 0].set_ylabel("positions per second (dashed: ideal)")
    axes[1, 0].set_ylabel("efficiency")
    percent = matplotlib.ticker.FuncFormatter(lambda share, _: f"{100 * share:g} %")
    axes[1, 0].yaxis.set_major_formatter(percent)
    axes[1, 0].yaxis.set_minor_formatter(matplotlib.ticker.NullFormatter())
    axes[1, 0].set_ylim(bottom=min(0.09, axes[1, 0].get_ylim()[0]))
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    return figure


def _write_efficiency(axes, rows: pd.DataFrame, nodes: int) -> None:
    axes.axvline(nodes, color=plots.BLACK, linewidth=1, zorder=0)
    efficiency = rows[rows["nodes"] == nodes].set_index("interconnect")["efficiency"]
    lines = [f"{nodes:,} nodes", *(f"{name}: {share:.1%}" for name, share in efficiency.items())]
    white = {"facecolor": "white", "linewidth": 0, "alpha": 0.8}
    text, at = "\n".join(lines), {"transform": axes.transAxes, "bbox": white}
    axes.text(0.03, 0.03, text, fontsize="small", **at)


def draw_savings(per_step: pd.Series, shares: Sequence[float], inferring: float):
    """Draws what a worker's time shrinks by with a faster environment, over how fast it infers.

    `per_step` holds seconds of a step by environment: "cpp" replaces the others, and a free one
    replaces "cpp". `shares` of the time are marked, and our network, which takes `inferring`
    seconds a position.
    """
    after = per_step["cpp"]
    slow = per_step.drop("cpp").sort_values(ascending=False)
    replaced = {f"{name} by cpp": (before, after) for name, before in slow.items()}
    replaced["cpp by one that is free"] = after, 0.0
    figure, axes = plots.axes(height=4.2)
    rates = np.geomspace(1e2, 1e7, 300)
    lines = zip(plots.lines(replaced.items()), plots.LINESTYLES, strict=False)
    for (name, (before, after), look), linestyle in lines:
        marker = look.pop("marker")
        axes.plot(rates, saving(before, after, 1 / rates), label=name, linestyle=linestyle, **look)
        for share in shares:
            seconds = inferring_at(share, before, after)
            if seconds > 0:
                axes.plot(1 / seconds, share, marker, **look)
    for share in shares:
        axes.axhline(share, color=plots.BLACK, linestyle=":", linewidth=1, zorder=0)
    mark = {"color": plots.BLACK, "linestyle": "--", "linewidth": 1, "zorder": 0}
    axes.axvline(1 / inferring, label="our network, one core here", **mark)
    axes.set(xscale="log", xlim=(rates[0], rates[-1]), ylim=(0, 1), ylabel="time saved")
    axes.yaxis.set_major_formatter(matplotlib.ticker.PercentFormatter(1))
    axes.set_xlabel("positions inferred per second and worker")
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize="small")
    axes.set_title("Time that a faster environment saves a worker")
    return figure


def explore_nodes(update: Update, length: int, boards_in_all: int = 65536):
    """Shows the cost model's predictions for nodes, boards and links of the reader's choice."""
    counts = [2**power for power in range(13)]
    settings = {"length": length, "boards_in_all": boards_in_all}

    def draw(nodes, boards, speed, gigabits, microseconds):
        link = Link(microseconds * 1e-6, gigabits * 1e9 / 8)
        links = {algorithm: (link, algorithm) for algorithm in ROUNDS}
        predict_kwargs = settings | {"boards": boards, "speed": speed}
        return draw_nodes(predict(update, links, counts, **predict_kwargs), mark=nodes)

    return widgets.explore(
        draw,
        nodes=widgets.slider(counts, 256, "nodes"),
        boards=widgets.slider(counts, 64, "boards of each"),
        speed=widgets.slider([1, 10, 100, 1000], 1, "node's speed"),
        gigabits=widgets.slider([1, 10, 25, 100, 400], 100, "Gbit/s"),
        microseconds=widgets.slider([1, 2, 5, 10, 50, 100], 2, "µs a round"),
    )
