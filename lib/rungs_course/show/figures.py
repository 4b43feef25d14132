"""The course's figures: each a function of saved data."""

import pandas as pd
import seaborn

from rungs_course import plots

_SHOWN_STEPS = 5  # of a timeline


def _bars(axes, names, values, texts, color) -> None:
    """Draws horizontal bars, first on top, each with its value written next to it."""
    seaborn.barplot(x=list(values), y=list(names), color=color, saturation=1, ax=axes)
    for i, (value, text) in enumerate(zip(values, texts, strict=True)):
        axes.annotate(text, (value, i), (4, 0), textcoords="offset points", va="center")
    axes.margins(x=0.18)


def profile(frame: pd.DataFrame, title: str):
    """Draws where a rung's own time goes: `frame` has columns `part` and `share` (0 to 1)."""
    figure, axes = plots.axes(height=1.2 + 0.4 * len(frame))
    texts = [f"{share:.0%}" for share in frame["share"]]
    _bars(axes, frame["part"], frame["share"] * 100, texts, plots.ORANGE)
    axes.set_xlabel("per cent of the time of a step")
    axes.set_title(title)
    return figure


def _repeats(axes, rates: pd.DataFrame) -> None:
    """Draws repeats, first on top: a bar for the median, a dot for each, a colour per racer.

    Args:
        axes: to draw on.
        rates: `rate`, `racer` and the row's `name`.
    """
    palette = plots.COLORS[: rates["racer"].nunique()]
    what = {"x": "rate", "y": "name", "hue": "racer", "palette": palette, "legend": False}
    seaborn.barplot(
        rates, estimator="median", errorbar=None, alpha=0.5, saturation=1, ax=axes, **what
    )
    seaborn.stripplot(rates, jitter=False, ax=axes, **what)
    axes.set_ylabel("")


def compilers(frame: pd.DataFrame):
    """Draws the race of the same header compiled by Cling and by g++: every repeat, and medians.

    Args:
        frame: of `rungs_course.measure.race.race`, with racers "Cling" and "g++" and a column
            `mask`.
    """
    figure, axes = plots.axes(height=3.2)
    rates = frame.assign(rate=frame["plies"] / frame["seconds"] / 1e6)
    _repeats(axes, rates.assign(name=rates["racer"] + ", " + rates["mask"] + " mask"))
    axes.set_xlabel("million plies per second (dots: repeats, bars: medians)")
    axes.set_title("One header, two compilers")
    return figure


def floor(parts: pd.DataFrame):
    """Draws a step's time as its floor, what perft takes for the rules, and the difference.

    Args:
        parts: a row per mask format: `mask`, `step`, `rules`, `writing`, nanoseconds per ply.
    """
    figure, axes = plots.axes(height=2.8)
    names = ("play and generate (perft)", "write the outputs (floor)", "the rest of the step")
    looks = plots.fills(names, (plots.SKY, plots.ORANGE, plots.GREY))
    for i, row in enumerate(parts.itertuples()):
        left = 0.0
        rest = max(row.step - row.rules - row.writing, 0)
        for value, look in zip((row.rules, row.writing, rest), looks.values(), strict=True):
            axes.barh(i, value, left=left, **look)
            wide = value > 0.06 * parts["step"].max()
            at = {"y": i, "va": "center"} if wide else {"y": i - 0.41, "va": "bottom"}
            text = axes.text(left + value / 2, s=f"{value:.0f}", ha="center", **at)
            text.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 1})
            left += value
    axes.set_yticks(range(len(parts)), [f"{mask} mask" for mask in parts["mask"]])
    axes.invert_yaxis()
    axes.set_xlabel("nanoseconds per ply")
    plots.legend_below(figure, looks, 3)
    axes.set_title("A step, its floor, and what perft takes")
    return figure


def perft(frame: pd.DataFrame):
    """Draws a race of move generators: every repeat, and medians.

    Args:
        frame: of `rungs_course.studies.perft_race.perft_race`.
    """
    figure, axes = plots.axes(height=1.4 + 0.45 * len(frame.groupby(["position", "racer"])))
    rates = frame.assign(rate=frame["leaves"] / frame["seconds"] / 1e6)
    _repeats(axes, rates.assign(name=rates["racer"] + ", " + rates["position"]))
    axes.set_xlabel("million leaves per second (dots: repeats, bars: medians)")
    axes.set_title("Perft, one thread")
    return figure


def timelines(frame: pd.DataFrame):
    """Draws what ran when in the first steps, one row of bars per kind of work.

    Args:
        frame: of `rungs_course.studies.parallel.timeline`, with a column `mode`, the title.
    """
    frames = dict(list(frame.groupby("mode", sort=False)))
    steps = min((rows["work"] == "infer").sum() // 2 for rows in frames.values())
    seconds = frame["end"].max() * min(1, _SHOWN_STEPS / steps)
    figure, axes = plots.axes(height=1.4 + 1.2 * len(frames), nrows=len(frames), squeeze=False)
    looks = plots.fills(("first half of the boards", "second"), (plots.BLUE, plots.ORANGE))
    first, second = looks.values()
    for each, (title, rows) in zip(axes[:, 0], frames.items(), strict=True):
        shown = rows[rows["end"] <= seconds]
        for row in shown.itertuples():
            look = second if row.half else first
            at = 0 if row.work == "infer" else 1
            each.barh(at, row.end - row.start, left=row.start, **look)
        each.set_yticks([0, 1], ["infer", "simulate"])
        each.set_xlim(0, seconds)
        each.set_title(title, fontsize=9)
    axes[-1, 0].set_xlabel("seconds")
    plots.legend_below(figure, looks, 2)
    return figure
