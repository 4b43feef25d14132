"""Two runs' comparison for people: a report, and a figure of what changed."""

import textwrap

import numpy as np
import pandas as pd
from matplotlib.ticker import FuncFormatter

from rungs._src.machine.describe import SAME
from rungs_course import plots
from rungs_course.measure.compare import MIN_REPEATS, Comparison, Run

MOST = 20  # changes shown: the largest

_LOOKS = {
    "better": {"marker": "o", "color": plots.BLUE},
    "worse": {"marker": "X", "color": plots.ORANGE},
    "changed": {"marker": "D", "color": plots.BLACK},
}
_VERDICTS = {
    **{name: name for name in _LOOKS},
    "same": "within the noise",
    "unjudged": f"not judged (fewer than {MIN_REPEATS} repeats, or zeros)",
}
_FORMATS = {"seconds": plots.duration, "per_second": plots.speed}


def report(comparison: Comparison) -> str:
    """Writes the runs, the changes as a Markdown table, and what was not judged or compared."""
    parts = [_head(comparison), _changes(comparison), _counts(comparison), _rest(comparison)]
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def table(changes: pd.DataFrame) -> pd.DataFrame:
    """Returns a row per change, in words.

    Args:
        changes: of `rungs_course.measure.compare.Comparison`.
    """
    return pd.DataFrame(
        {
            "What": [_what(row) for row in changes.itertuples()],
            "A": [_value(row.measure, row.a) for row in changes.itertuples()],
            "B": [_value(row.measure, row.b) for row in changes.itertuples()],
            "B / A": changes["ratio"].map(plots.ratio).to_list(),
            "Noise": changes["noise"].map(plots.ratio).to_list(),
            "Verdict": changes["verdict"].to_list(),
        }
    )


def figure(comparison: Comparison):
    """Draws B's values over A's for the largest changes, each with its own noise as an interval.

    A ratio with zero has no place on the axis; its values are written next to the row, as all are.
    """
    changes = comparison.changes
    shown = changes[:MOST]
    figure, axes = plots.axes(width=10, height=2.2 + 0.36 * len(shown))
    floor = 1 + comparison.floor
    label = f"less than {comparison.floor * 100:.3g} %: noise in any timing"
    axes.axvspan(1 / floor, floor, color=plots.GREY, alpha=0.35, linewidth=0, label=label)
    axes.axvline(1, color=plots.BLACK, linewidth=0.8)
    rows = shown.assign(y=range(len(shown)))
    for verdict, group in rows.groupby("verdict"):
        finite = group[np.isfinite(group["ratio"]) & (group["ratio"] > 0)]
        ends = [finite["ratio"] - finite["low"], finite["high"] - finite["ratio"]]
        look = _LOOKS[verdict] | {"linestyle": "none", "markersize": 7, "elinewidth": 1.5}
        axes.errorbar(finite["ratio"], finite["y"], xerr=ends, label=verdict, **look)
    for row in rows.itertuples():
        text = f"{_value(row.measure, row.a)} → {_value(row.measure, row.b)}, {row.verdict}"
        at = {"transform": axes.get_yaxis_transform(), "va": "center", "fontsize": "small"}
        axes.text(1.01, row.y, text, parse_math=False, **at)
    names = [textwrap.fill(_what(row), 52) for row in rows.itertuples()]
    axes.set_yticks(rows["y"], names, parse_math=False)  # a racer's name may hold a "$"
    axes.tick_params(axis="y", labelsize="small", length=0)
    axes.set_ylim(max(len(rows), 1) - 0.4, -0.6)
    axes.set_xscale("log", base=2)
    low, high = axes.get_xlim()
    axes.set_xlim(min(low, 0.45), max(high, 2.2))  # three ticks at least
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: plots.ratio(value)))
    axes.set_xlabel("B / A")
    axes.grid(axis="y", visible=False)
    axes.set_title(_title(changes))
    figure.legend(loc="outside lower center", ncols=4, frameon=False)
    return figure


def _title(changes: pd.DataFrame) -> str:
    if changes.empty:
        return "Nothing changed beyond the noise"
    counts = changes["verdict"].value_counts()
    words = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    more = f"; the largest {MOST} of them" if len(changes) > MOST else ""
    return f"Beyond the noise: {words}{more}"


def _head(comparison: Comparison) -> list[str]:
    lines = [f"{name}: {_who(run)}" for name, run in (("A", comparison.a), ("B", comparison.b))]
    pairs = {
        (key, *pair): None for file in comparison.differing.values() for key, pair in file.items()
    }
    if any(key in SAME for key, *_ in pairs):
        lines.append(
            "These are different machines: ratios are of the machines as much as of the code."
        )
    lines += [f"{key} differs: {of_a} in A, {of_b} in B" for key, of_a, of_b in pairs]
    return lines


def _who(run: Run) -> str:
    facts = [value for name in ("machine", "gpu") for value in run.facts(name) if value != "None"]
    facts += [f"{name} {_few(run.facts(name))}" for name in ("cores", "size", "seed", "commit")]
    days = sorted({date[:10] for date in run.facts("date")})
    return f"{run.folder}: " + ", ".join([*facts, _few(days)])


def _few(values: list[str]) -> str:
    shown = "/".join(values[:3])
    return f"{shown} and {len(values) - 3} more" if len(values) > 3 else shown


def _changes(comparison: Comparison) -> list[str]:
    changes = comparison.changes
    if changes.empty:
        return ["Nothing changed beyond the noise."]
    lines = _aligned(table(changes[:MOST]))
    more = len(changes) - MOST
    return [*lines, f"and {more} smaller changes"] if more > 0 else lines


def _aligned(table: pd.DataFrame) -> list[str]:
    rows = [[*table.columns], *table.astype(str).to_numpy().tolist()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, ["-" * width for width in widths])
    return ["| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in rows]


def _counts(comparison: Comparison) -> list[str]:
    verdicts = comparison.groups["verdict"].value_counts()
    words = [f"{verdicts.get(name, 0)} {word}" for name, word in _VERDICTS.items()]
    lines = [f"{len(comparison.groups)} groups in both: {', '.join(words)}"]
    times = comparison.groups.query("measure == 'seconds'")
    times = times[np.isfinite(times["noise"])]
    if len(times):
        median, least = times["ratio"].median(), times["noise"].median()
        lines.append(f"Half of the times show a change only if it is beyond {plots.ratio(least)}")
        lines.append(f"All times together: B / A is {plots.ratio(median)} (median)")
        if abs(np.log(median)) > np.log1p(comparison.floor):
            lines.append("All times changed: was the machine as idle for A as for B?")
    return lines


def _rest(comparison: Comparison) -> list[str]:
    lines = []
    for name, files in comparison.only.items():
        counts = [f"{file} {count}" for file, count in files.items()]
        lines += [f"Groups only in {name}: {', '.join(counts)}"] if counts else []
    reasons: dict[str, list[str]] = {}
    for file, why in comparison.skipped.items():
        reasons.setdefault(why, []).append(file)
    return lines + [f"Not compared, {why}: {', '.join(files)}" for why, files in reasons.items()]


def _what(row) -> str:
    return f"{row.file.removesuffix('.csv')}: {row.what}"


def _value(measure: str, value: float) -> str:
    return _FORMATS.get(measure, "{:,.6g}".format)(value)
