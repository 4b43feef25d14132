"""Figures of what training takes on many processes, measured on few and predicted for more."""

from collections.abc import Sequence

import matplotlib.patches
import matplotlib.ticker
import numpy as np
import pandas as pd
import seaborn

from rungs_course import plots
from rungs_course.studies.cost_model import Link, all_reduce_seconds, inferring_at, saving
from rungs_course.studies.rank_costs import PARTS

_FILLS = plots.fills(PARTS, (plots.SKY, plots.BLUE, plots.ORANGE, plots.GREY, plots.GREEN))

_HOLLOW = {"markerfacecolor": "white", "linestyle": "none"}


def messages(times: pd.DataFrame, link: Link, cores: int):
    """All-reduces over the size of messages: medians and quartiles, and the model's lines.

    Args:
        times: of `rungs_course.studies.rank_costs.measure`.
        link: of the model.
        cores: how many there are; more processes have hollow markers.
    """
    figure, axes = plots.axes(height=4.2)
    groups = plots.lines(times.groupby("processes"))
    for (processes, rows, look), linestyle in zip(groups, plots.LINESTYLES, strict=False):
        axes = seaborn.lineplot(
            x=rows["bytes"].to_list(),
            y=(1e3 * rows["seconds"]).to_list(),
            **plots.MEDIANS | {"err_style": "bars", "linestyle": "none"},
            markerfacecolor="white" if processes > cores else look["color"],
            markeredgecolor=look["color"],
            label=f"{_processes(processes, cores)}, measured",
            ax=axes,
            **look,
        )
        sizes = sorted(rows["bytes"].unique())
        line = [all_reduce_seconds(processes, size, link) * 1e3 for size in sizes]
        model = {"color": look["color"], "linestyle": linestyle}
        axes.plot(sizes, line, label=f"{processes} processes, model", **model)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(_bytes))
    axes.set_xlabel("size of the message")
    axes.set_ylabel("milliseconds per all-reduce")
    axes.legend(frameon=False, fontsize="small")
    axes.set_title("All-reduce over loopback (markers: medians and quartiles)")
    return figure


def _processes(processes: int, cores: int, between: str = " ") -> str:
    name = "1 process" if processes == 1 else f"{processes} processes"
    return name + (f"{between}(oversubscribed)" if processes > cores else "")


def _bytes(value: float, position=None) -> str:
    for scale, unit in ((2**20, "MiB"), (2**10, "KiB")):
        if value >= scale:
            return f"{value / scale:.0f} {unit}"
    return f"{value:.0f} B"


def beside(ratios: pd.DataFrame, cores: int):
    """Draws how many times as long computing takes side by side as alone: repeats and medians.

    Args:
        ratios: of `rungs_course.studies.cost_model.beside`.
        cores: how many there are; beyond them processes take turns, at best as the dashes say.
    """
    figure, axes = plots.axes(height=3.2)
    several = ratios[ratios.index > 1]
    long = several.melt(ignore_index=False).reset_index()
    dots = {"data": long, "x": "processes", "y": "value"}
    seaborn.stripplot(**dots, jitter=0.12, color=plots.BLUE, alpha=0.6, ax=axes)
    for at, (processes, row) in enumerate(several.iterrows()):
        axes.hlines(row.median(), at - 0.2, at + 0.2, color=plots.BLACK)
        best = max(1, processes / cores)
        axes.hlines(best, at - 0.3, at + 0.3, color=plots.GREY, linestyle="--")
    axes.set_xticks(range(len(several)), [_processes(p, cores, "\n") for p in several.index])
    axes.set_xlabel("")
    axes.set_ylim(0, None)
    axes.set_ylabel("times as long as one alone")
    axes.set_title("Computing side by side, nothing exchanged (dashed: only cores shared)")
    return figure


def check(table: pd.DataFrame, cores: int):
    """Draws updates as measured and as predicted, part by part, and how far apart they are.

    Args:
        table: of `rungs_course.studies.cost_model.check`.
        cores: how many there are.
    """
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
    axes.set_title("An update: parts by their medians, the whole with its quartiles")
    return figure


def nodes(
    weak: dict[str, pd.DataFrame],
    strong: dict[str, pd.DataFrame],
    mark: int | None = None,
    title: str = "Computed by the model, not measured",
):
    """Draws throughput and efficiency over nodes, predicted, a line per interconnect.

    Args:
        weak: of `rungs_course.studies.cost_model.scale` with the same positions for each node, by
            name.
        strong: with the same positions in all.
        mark: one of the numbers of nodes, of which the efficiency is written down.
        title: what the predictions are worth.
    """
    figure, axes = plots.axes(width=8.0, height=6.4, nrows=2, ncols=2, sharex=True, sharey="row")
    columns = (("Weak: boards per node fixed", weak), ("Strong: boards in all fixed", strong))
    for column, (kind, frames) in zip(axes.T, columns, strict=True):
        for name, frame, look in plots.lines(frames.items()):
            for each, quantity in zip(column, ("throughput", "efficiency"), strict=True):
                each.plot(frame["nodes"], frame[quantity], label=name, markersize=4, **look)
        ideal = frame["nodes"] * frame["throughput"].iloc[0]
        column[0].plot(frame["nodes"], ideal, color=plots.BLACK, linestyle="--", linewidth=1)
        column[0].set_title(kind)
        column[1].set_xlabel("nodes")
        for each in column:
            each.set_yscale("log")
            _numbers_below(each)
        if mark:
            _write_efficiency(column[1], frames, mark)
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


def _numbers_below(axes) -> None:
    """Puts numbers of nodes or the like, in powers of two, below the horizontal axis."""
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(matplotlib.ticker.StrMethodFormatter("{x:,.0f}"))


def _write_efficiency(axes, frames: dict[str, pd.DataFrame], nodes: int) -> None:
    axes.axvline(nodes, color=plots.BLACK, linewidth=1, zorder=0)
    found = {name: frame.set_index("nodes")["efficiency"][nodes] for name, frame in frames.items()}
    lines = [f"{nodes:,} nodes", *(f"{name}: {share:.1%}" for name, share in found.items())]
    axes.text(0.03, 0.03, "\n".join(lines), transform=axes.transAxes, fontsize="small")


def feeding(rates: dict[str, float], limits: dict[str, float], max_generators: int):
    """Draws what reaches one learner from many generators, and what it can take.

    Args:
        rates: positions per second of one generator, by name.
        limits: positions per second that the learner can't go beyond, by name.
        max_generators: the most generators drawn.
    """
    figure, axes = plots.axes(height=4.2)
    generators = 2.0 ** np.arange(0, np.log2(max_generators) + 1)
    for name, rate, look in plots.lines(rates.items()):
        axes.plot(generators, generators * rate, label=name, markersize=4, **look)
    for name, limit in limits.items():
        axes.axhline(limit, color=plots.BLACK, linestyle="--", linewidth=1)
        text = f"{name}: {plots.speed(limit)}"
        axes.annotate(text, (1, limit), va="bottom", fontsize="small")
    axes.set_yscale("log")
    _numbers_below(axes)
    axes.set_xlabel("generators")
    axes.set_ylabel("positions per second, all generators")
    axes.legend(frameon=False, fontsize="small", loc="lower right")
    axes.set_title("Generators feeding one learner (dashed: what it can take)")
    return figure


def savings(
    replaced: dict[str, tuple[float, float]], shares: Sequence[float], marks: dict[str, float]
):
    """Draws what a worker's time shrinks by with a faster environment, over how fast it infers.

    Args:
        replaced: seconds per step before and after, by name.
        shares: savings that are marked on every line that reaches them.
        marks: positions inferred per second, by name, for lines that go up there.
    """
    figure, axes = plots.axes(height=4.2)
    rates = np.geomspace(1e2, 1e7, 300)
    lines = zip(plots.lines(replaced.items()), plots.LINESTYLES, strict=False)
    for (name, (before, after), look), linestyle in lines:
        marker = look.pop("marker")
        saved = 100 * saving(before, after, 1 / rates)
        axes.plot(rates, saved, label=name, linestyle=linestyle, **look)
        for share in shares:
            inferring = inferring_at(share, before, after)
            if inferring > 0:
                axes.plot(1 / inferring, 100 * share, marker, **look)
    for share in shares:
        axes.axhline(100 * share, color=plots.BLACK, linestyle=":", linewidth=1, zorder=0)
    for name, rate in marks.items():
        axes.axvline(rate, color=plots.BLACK, linestyle="--", linewidth=1, zorder=0, label=name)
    axes.set_xscale("log")
    axes.set_xlim(rates[0], rates[-1])
    axes.set_ylim(0, 100)
    axes.set_xlabel("positions inferred per second and worker")
    axes.set_ylabel("time saved, per cent")
    axes.legend(frameon=False, fontsize="small", loc="upper left")
    axes.set_title("What a faster environment saves a worker")
    return figure
