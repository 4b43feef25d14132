"""Tables: the ladder, in numbers and in words; Markdown."""

import re

import pandas as pd

from rungs import rungs_of
from rungs_course.measure.noise import factor, factor_apart
from rungs_course.plots import duration, ratio, speed

# Raced in a separate job, so their repeats are not interleaved with the others'.
OWN_JOB = frozenset({"mpi", "node"})
# Of each racer in words; `wasm` is in recorded races alone.
IMPLEMENTATIONS = {rung.name: rung.implementation for rung in rungs_of("chess")} | {
    "node": "C++ in WebAssembly, in Node",
    "wasm": "C++ in WebAssembly, one thread",
}


def ladder_table(race: pd.DataFrame, rest_of_batch: float, num_envs: int) -> pd.DataFrame:
    """Sums up a race of rungs, the slowest first.

    All columns follow from one: how many times as fast as the first rung each is, the median of the
    ratios repeat by repeat. Racers of `OWN_JOB` are compared with the first by medians.

    Training's time is batches * (update + generate), so a rung that generates a batch in `g`
    instead of Python's `g0` trains (rest + g0) / (rest + g) times as fast, where `rest`,
    `rest_of_batch`, is seconds of inference and update. A batch is one step of all boards.

    Returns a row per rung: `rung`, `seconds` of a step of all boards (the first rung's median,
    divided by the speed-up), `seconds_low` and `seconds_high`, `plies_per_second`,
    `absolute_speedup` (over the first rung), `speedup_low` and `speedup_high` (its interval, see
    `rungs_course.measure.noise.Factor`), `relative_speedup` (over the rung before) and
    `training_speedup`.
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
        training_speedup=(rest_of_batch + seconds.iloc[0]) / (rest_of_batch + seconds),
    )


def ladder(frame: pd.DataFrame, floor: float | None = None) -> pd.DataFrame:
    """Writes the ladder as a reader sees it, from the numbers of `ladder_table`; with `floor`,
    seconds of merely writing a step's outputs, also the share of this bound.
    """
    table = pd.DataFrame(
        {
            "Version": range(1, len(frame) + 1),
            "Rung": frame["rung"],
            "Implementation": frame["rung"].map(IMPLEMENTATIONS),
            "Time of a step": frame["seconds"].map(duration),
            "Plies": frame["plies_per_second"].map(speed),
            "Absolute speed-up": frame["absolute_speedup"].map(ratio),
            "Interval": [
                interval(low, high)
                for low, high in zip(frame["speedup_low"], frame["speedup_high"], strict=True)
            ],
            "Relative speed-up": frame["relative_speedup"].map(ratio),
            "Training, estimated": frame["training_speedup"].map(ratio),
        }
    )
    if floor:
        table["Of all cores' bound"] = (floor / frame["seconds"]).map("{:.2%}".format)
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
