"""Tables: the ladder, in numbers and in words; Markdown."""

import re

import pandas as pd

from rungs import rungs_of
from rungs_course.measure.noise import factor, factor_apart
from rungs_course.plots import duration, ratio

# Raced in a separate job, so their repeats are not interleaved with the others'.
OWN_JOB = frozenset({"mpi", "node"})
# Of each racer in words; `wasm` is in recorded races alone.
IMPLEMENTATIONS = {rung.name: rung.implementation for rung in rungs_of("chess")} | {
    "node": "C++ in WebAssembly, in Node",
    "wasm": "C++ in WebAssembly, one thread",
}


def ladder_table(race: pd.DataFrame, num_envs: int) -> pd.DataFrame:
    """Sums up a race of rungs, the slowest first.

    All columns follow from one: how many times as fast as the first rung each is, the median of the
    ratios repeat by repeat. Racers of `OWN_JOB` are compared with the first by medians.

    Returns a row per rung: `rung`, `seconds` of a step of all boards (the first rung's median,
    divided by the speed-up), `seconds_low` and `seconds_high`, `plies_per_second`,
    `absolute_speedup` (over the first rung), `speedup_low` and `speedup_high` (its interval, see
    `rungs_course.measure.noise.Factor`) and `relative_speedup` (over the rung before).
    """
    order = race["racer"].drop_duplicates().tolist()
    per_ply = race.assign(seconds=race["seconds"] / race["plies"])
    times = per_ply.pivot(index="repeat", columns="racer", values="seconds")[order] * num_envs
    first = times[order[0]].dropna()
    gains = [
        factor_apart(first, times[rung].dropna())
        if rung in OWN_JOB
        else factor((first / times[rung]).dropna())
        for rung in order
    ]
    table = pd.DataFrame(
        {
            "rung": order,
            "absolute_speedup": [gain.middle for gain in gains],
            "speedup_low": [gain.low for gain in gains],
            "speedup_high": [gain.high for gain in gains],
        }
    )
    seconds = first.median() / table["absolute_speedup"]
    return table.assign(
        seconds=seconds,
        seconds_low=first.median() / table["speedup_high"],
        seconds_high=first.median() / table["speedup_low"],
        plies_per_second=num_envs / seconds,
        relative_speedup=(seconds.shift(1) / seconds).fillna(1.0),
    )


def ladder(frame: pd.DataFrame, floor: float) -> pd.DataFrame:
    """Writes the ladder as a reader sees it, from the numbers of `ladder_table` and, if it has this
    column, `training_speedup`; `floor` is seconds of merely writing a step's outputs.
    """
    rung = frame["rung"]
    speedups = frame[["absolute_speedup", "speedup_low", "speedup_high"]].itertuples(index=False)
    table = pd.DataFrame(
        {
            "Rung": rung,
            "Implementation": rung.map(IMPLEMENTATIONS),
            "Time of a step": frame["seconds"].map(duration),
            "Absolute speed-up": [with_interval(*speedup) for speedup in speedups],
            "Compared by": rung.map(lambda name: "medians" if name in OWN_JOB else "turns"),
            "Relative speed-up": frame["relative_speedup"].map(ratio),
            "Of all cores' bound": (floor / frame["seconds"]).map("{:.2%}".format),
        }
    )
    if "training_speedup" in frame:
        table["Training, estimated"] = frame["training_speedup"].map(ratio)
    return table


def markdown(table: pd.DataFrame) -> str:
    """Writes a table as GitHub's Markdown."""
    rows = [table.columns, ["---"] * len(table.columns), *table.itertuples(index=False)]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows)


def fill(page: str, sections: dict[str, str]) -> str:
    """Returns a page with generated sections, each between <!-- NAME --> and <!-- /NAME -->.

    Sections for which the page has no such place are left out, as several pages share them.
    """
    for name, section in sections.items():
        head, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        replacement = head + section + end
        old = re.compile(re.escape(head) + ".*?" + re.escape(end), re.DOTALL)
        page = old.sub(lambda _, new=replacement: new, page)  # type: ignore[misc]
    return page


def with_interval(middle: float, low: float, high: float) -> str:
    """Writes a factor with its interval, both to three digits: "1,238× (1,168 to 1,413)"."""
    return f"{ratio(middle)} ({interval(low, high)})"


def interval(low: float, high: float) -> str:
    """Writes the interval of a factor: "1,168 to 1,413"."""
    return " to ".join(ratio(end).removesuffix("×") for end in (low, high))
