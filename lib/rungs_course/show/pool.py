"""Figures of pools of processes: what runs when, what a step is made of, and what they gain."""

import ipywidgets
import pandas as pd
import seaborn as sns

from rungs_course import plots
from rungs_course.studies import parallel, sharing
from rungs_course.widgets import predict_first

# What pieces of work are drawn as.
_KINDS = {
    "step": "step the boards",
    "wake": "wake up",
    "pickle": "pickle and unpickle",
    "unpickle": "pickle and unpickle",
    "send": "through the pipe",
    "pipe": "through the pipe",
    "copy": "copy into place",
    "learn": "learn",
}
_COLORS = (plots.SKY, plots.BLACK, plots.ORANGE, plots.GREY, plots.BLUE)
_LOOKS = plots.fills(list(dict.fromkeys(_KINDS.values()))[:5], _COLORS)
_LOOKS["learn"] = plots.fills(("", "learn"), _COLORS[1:3])["learn"]


def timeline(frames: dict[str, pd.DataFrame], unit: str = "ms", same_scale: bool = False):
    """Draws what each process does when, a panel for each of some steps.

    Args:
        frames: `process`, `work`, `start` and `end` in seconds, of one step, by title; see
            `rungs_course.studies.pool_timeline`.
        unit: "ms" or "s".
        same_scale: whether all panels are as long as the longest; else each fills its width.
    """
    scale = {"ms": 1e3, "s": 1}[unit]
    rows = {title: frame["process"].unique().tolist() for title, frame in frames.items()}
    heights = [1 + len(processes) for processes in rows.values()]
    figure, axes = plots.axes(
        8.0, 0.8 + 0.36 * sum(heights), nrows=len(frames), squeeze=False, height_ratios=heights
    )
    longest = max(frame["end"].max() for frame in frames.values())
    drawn = set()
    for each, (title, frame) in zip(axes[:, 0], frames.items(), strict=True):
        for piece in frame[frame["work"] != "whole"].itertuples():
            kind = _KINDS[piece.work]
            drawn.add(kind)
            at = rows[title].index(piece.process)
            length = (piece.end - piece.start) * scale
            each.barh(at, length, left=piece.start * scale, height=0.7, **_LOOKS[kind])
        each.set_yticks(range(len(rows[title])), rows[title])
        each.invert_yaxis()
        each.set_xlim(0, 1.03 * scale * (longest if same_scale else frame["end"].max()))
        each.set_title(title, fontsize=10)
    axes[-1, 0].set_xlabel({"ms": "milliseconds since the step began", "s": "seconds"}[unit])
    plots.legend_below(figure, {kind: _LOOKS[kind] for kind in _LOOKS if kind in drawn}, 4)
    return figure


def parts(tables: dict[str, pd.DataFrame]):
    """Draws what steps are made of, a stacked bar each, in per cent.

    Args:
        tables: of `rungs_course.studies.pool_timeline.parts`, by name.
    """
    figure, axes = plots.axes(8.0, 1.8 + 0.5 * len(tables))
    for at, table in enumerate(tables.values()):
        medians = kinds(table)
        left = 0.0
        for kind, seconds in medians.items():
            width = 100 * seconds / medians.sum()
            axes.barh(at, width, left=left, **_LOOKS[kind])
            left += width
        axes.text(101, at, f"{plots.duration(medians.sum())}", va="center")
    axes.set_yticks(range(len(tables)), list(tables))
    axes.invert_yaxis()
    axes.set_xlim(0, 112)
    axes.set_xticks(range(0, 101, 20))
    axes.set_xlabel("per cent of a step, along the worker that answers last")
    plots.legend_below(figure, {kind: _LOOKS[kind] for kind in medians.index}, 3)
    axes.set_title("What a step of a pool is made of")
    return figure


def kinds(table: pd.DataFrame) -> pd.Series:
    """Returns the median seconds of each kind of work, by the name that it is drawn with.

    Args:
        table: of `rungs_course.studies.pool_timeline.parts`.
    """
    named = table.assign(kind=table["part"].map(_KINDS))
    medians = named.groupby(["turn", "kind"])["seconds"].sum().groupby("kind").median()
    return medians[[kind for kind in _LOOKS if kind in medians]]


def ways(times: pd.DataFrame, chosen: tuple[str, ...], title: str, cores: int):
    """Draws how many times as fast as one process each way is, every repeat a dot.

    Args:
        times: of `rungs_course.studies.sharing.race_ways`, or rows like it with "python" among
            racers.
        chosen: the ways to draw, in order; those that the table has.
        title: the figure's.
        cores: how many there are, drawn as the most that could be hoped for.
    """
    wide = times.pivot(index=["num_envs", "repeat"], columns="racer", values="seconds")
    chosen = tuple(way for way in chosen if way in wide)
    ratios = wide.rdiv(wide["python"], axis=0)[[*chosen]]
    long = ratios.melt(ignore_index=False, var_name="way", value_name="gain").reset_index()
    figure, axes = plots.axes(8.0, 3.8)
    look = {"hue": "way", "hue_order": chosen, "dodge": True, "ax": axes, "legend": False}
    palette = [plots.BLUE, plots.ORANGE, plots.SKY, plots.GREY][: len(chosen)]
    sns.stripplot(long, x="num_envs", y="gain", palette=palette, alpha=0.5, size=4, **look)
    look |= {"legend": True, "dodge": 0.8 - 0.8 / len(chosen), "linestyle": "none"}
    markers = ["o", "s", "^", "D"][: len(chosen)]
    sns.pointplot(
        long, x="num_envs", y="gain", palette=palette, markers=markers, errorbar=None,
        estimator="median", markersize=7, **look,
    )  # fmt: skip
    axes.axhline(1, color=plots.BLACK, linewidth=1)
    axes.axhline(cores, color=plots.BLACK, linewidth=1, linestyle="--")
    axes.text(-0.45, cores, f"a loop on each of {cores} cores", va="bottom", fontsize="small")
    axes.set_ylim(0, None)
    axes.set_xlabel("boards")
    axes.set_ylabel("times as fast as one process")
    axes.grid(axis="y", color="#EEEEEE")
    sns.move_legend(
        axes, "upper center", bbox_to_anchor=(0.5, -0.18), ncols=4, title=None, frameon=False
    )
    axes.set_title(title)
    return figure


def predict_processes(times: pd.DataFrame, cores: int, *, seed: int) -> ipywidgets.VBox:
    """Asks how many times as fast as one process a pool of the reader's choice is.

    Args:
        times: of `rungs_course.studies.sharing.race_ways`; its "queue" and "shared" are drawn.
        cores: how many there are.
        seed: of the games.
    """
    known = times[times["racer"].isin(["python", "queue", "shared"])]
    table = parallel.gains(known, "python")

    def draw(choice, guess, gain):
        figure = plots.gains(table, "python", ideal=cores)
        (axes,) = figure.axes
        look = {"markersize": 12, "linestyle": "none", "zorder": 4}
        boards = choice["num_envs"]
        axes.plot(boards, guess, "*", color=plots.BLACK, label="your guess", **look)
        if gain:
            axes.plot(boards, gain, "X", color="#D55E00", label="measured now", **look)
        plots.legend_beside(axes)
        axes.set_title(f"{boards} boards, {choice['workers']} processes, {choice['transport']}")
        return figure

    def measure(choice):
        return sharing.one_pool(**choice, seed=seed)

    controls = {
        "num_envs": ipywidgets.SelectionSlider(
            options=[2, 8, 32, 128, 512], value=32, description="boards"
        ),
        "workers": ipywidgets.SelectionSlider(
            options=[1, 2, 4, 8, 16, 32], value=2, description="processes"
        ),
        "transport": ipywidgets.ToggleButtons(options=["queue", "shared"], description="transport"),
    }
    guess = ipywidgets.BoundedFloatText(1.0, min=0.01, max=1000, step=0.1, description="guess, ×")
    return predict_first(draw, measure, controls, guess)
