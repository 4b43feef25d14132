"""What changed between two runs' results beyond their noise.

A table of repeats gives a value for each group of rows, the median, and the spread of a single
repeat, from the quartiles. The spread is not divided by the root of the number of repeats: they
share the state of the machine, so more of them bring two runs no closer. Counts and scores have no
repeats; `_EXACT` says how they are read.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from rungs.errors import ConfigurationError
from rungs_course.measure import results

FLOOR = 0.1  # the smallest relative change of a timing that counts: less is drift
MIN_REPEATS = 5  # repeats that give a spread

_SPREADS = 3  # a change is larger than this many spreads of both runs together
_QUARTILES = 1.349  # from the first to the third, in a normal distribution's standard deviations
_INTERVAL = 2 * 1.96  # the width of one of 95 %, in the same unit

# The column that numbers the repeats, where it isn't `repeat`.
_REPEATS = {"00_batch.csv": "update", "01_python.csv": "step", "06_updates.csv": "update"}
_BETTER = {"seconds": -1, "per_second": 1}
_WORK = ["plies", "leaves", "positions"]  # units of the work that the seconds are for
_DERIVED = ["call", "per_second", "bytes_per_ply"]  # from other columns

_COLUMNS = [
    *("file", "what", "value", "spread", "repeats"),
    *("measure", "better", "tolerance", "floor"),
]
_JUDGED = [
    *("file", "what", "measure", "a", "b", "repeats_a", "repeats_b"),
    *("ratio", "low", "high", "noise", "verdict"),
]

# Settings in a file's head that must be equal for its values to be compared.
_ABOUT = ("num_envs", "boards", "steps", "mask")
# What differs between any two runs: the time, and measurements that stand among the settings.
_VARYING = (
    *("commit", "date", "floor_plies_per_second", "rest_of_batch_seconds"),
    *("link_latency", "link_bandwidth", "floor_nanoseconds", "clock_mhz", "flops_per_cycle"),
)


@dataclass(frozen=True)
class Exact:
    """How to read a table whose numbers the same code reproduces with the same seed.

    Attributes:
        value: the column.
        key: the columns that say what the value is of.
        better: 1 where more is better, -1 where less is, 0 where neither.
        tolerance: differences up to this one don't count, in the value's unit.
        scored: whether it has a 95 % interval, from `low` to `high`.
        played: whether it is of games, which differ in a run of another size.
    """

    value: str
    key: tuple[str, ...]
    better: int
    tolerance: float = 0.0
    scored: bool = False
    played: bool = False


_EXACT = {
    "09_headers.csv": Exact("instructions", ("header", "mask"), better=0, tolerance=0.05),
    "17_work.csv": Exact("instructions", ("racer",), better=-1, tolerance=0.05),
    "06_compiled.csv": Exact("bytes of machine code", ("architecture",), better=0),
    "09_counts.csv": Exact("per ply", ("boards", "count", "source"), better=-1, tolerance=0.05),
    "12_rules.csv": Exact("disagreements", ("peer", "rule"), better=-1, played=True),
    "15_evaluations.csv": Exact("score", ("rung", "update"), better=1, scored=True, played=True),
}


@dataclass(frozen=True)
class Run:
    """A run's results: its folder, and its tables by their files' names."""

    folder: Path
    tables: dict[str, pd.DataFrame]

    def facts(self, name: str) -> list[str]:
        """Returns the values of a fact in the files' heads, each once."""
        heads = (table.attrs["provenance"] for table in self.tables.values())
        return sorted({head[name] for head in heads if name in head})


@dataclass(frozen=True)
class Comparison:
    """Two runs side by side.

    Attributes:
        a: a run.
        b: the run that is better or worse than `a`.
        floor: the smallest relative change of a timing that counts.
        groups: a row per group that both have: `file`, `what`, `measure` (the name of its values),
            `a` and `b` (the values), `repeats_a` and `repeats_b`, `ratio` (b / a), `low` and `high`
            (its interval, by the spreads), `noise` (the factor that a change must exceed) and
            `verdict`: "better", "worse", "changed" (neither), "same" (within the noise) or
            "unjudged" (there is no spread).
        only: the numbers of groups that only one run has, by file, for "A" and "B".
        skipped: files of both that are not compared, and why.
        differing: values of A and of B for facts and settings that differ, by file.
    """

    a: Run
    b: Run
    floor: float
    groups: pd.DataFrame
    only: dict[str, dict[str, int]]
    skipped: dict[str, str]
    differing: dict[str, dict[str, tuple[str, str]]]

    @property
    def changes(self) -> pd.DataFrame:
        """The groups that changed, the largest change first, those of no direction last."""
        found = self.groups[self.groups["verdict"].isin(["better", "worse", "changed"])]
        found = found.iloc[np.argsort(-_factor(found["ratio"]), kind="stable")]
        return found.sort_values("verdict", key=lambda verdict: verdict == "changed", kind="stable")


def read(folder: Path) -> Run:
    """Reads the results of a run.

    Args:
        folder: a run's, with `results/` in it, or one of CSV files.

    Raises:
        ConfigurationError: there are none, or a file can't be read; it is named.
    """
    folder = Path(folder)
    inner = folder / "results"
    files = sorted((inner if inner.is_dir() else folder).glob("*.csv"))
    if not files:
        raise ConfigurationError(f"{folder} holds no results")
    return Run(folder, {file.name: results.load(file) for file in files})


def compare(a: Run, b: Run, floor: float = FLOOR) -> Comparison:
    """Compares what both runs hold.

    Args:
        a: a run.
        b: the run that is better or worse than `a`.
        floor: the smallest relative change of a timing that counts, whatever its spread.

    Raises:
        ConfigurationError: `floor` is negative, or a file lacks a column or a number; it is named.
    """
    if not 0 <= floor < np.inf:
        raise ConfigurationError(f"floor={floor} is not a number from 0 up")
    differing = _differing(a, b)
    of_a, of_b = _groups(a, floor), _groups(b, floor)
    skipped = {}
    for name in sorted(a.tables.keys() & b.tables.keys()):
        of_games = name in _EXACT and _EXACT[name].played
        settings = (*_ABOUT, "size") if of_games else _ABOUT
        about = [f"{key} differs" for key in settings if key in differing.get(name, {})]
        if about:
            skipped[name] = ", ".join(about)
        elif name not in {*of_a["file"], *of_b["file"]}:
            skipped[name] = "neither repeats nor counts"
    of_a, of_b = (groups[~groups["file"].isin(skipped)] for groups in (of_a, of_b))
    key = ["file", "what", "measure", "better", "tolerance", "floor"]
    both = of_a.merge(of_b, on=key, suffixes=("_a", "_b"), validate="one_to_one")
    only = {"A": _only(a, b, of_a, both), "B": _only(b, a, of_b, both)}
    return Comparison(a, b, floor, _judged(both), only, skipped, differing)


def _differing(a: Run, b: Run) -> dict[str, dict[str, tuple[str, str]]]:
    found = {}
    for name in sorted(a.tables.keys() & b.tables.keys()):
        heads = [run.tables[name].attrs["provenance"] for run in (a, b)]
        keys = [key for key in heads[0] | heads[1] if key not in _VARYING]
        values = {key: tuple(head.get(key, "None") for head in heads) for key in keys}
        found[name] = {key: pair for key, pair in values.items() if pair[0] != pair[1]}
    return found


def _groups(run: Run, floor: float) -> pd.DataFrame:
    """Returns a row per group of all tables: value, relative spread, repeats, and what it is of."""
    found = []
    for name, table in run.tables.items():
        repeat = _REPEATS.get(name, "repeat")
        measure = next((column for column in _BETTER if column in table), None)
        try:
            if name in _EXACT:
                groups = _exact(table, _EXACT[name])
            elif measure and repeat in table:
                groups = _repeated(table, repeat, measure).assign(floor=floor)
            else:
                continue
            if not groups.index.is_unique:
                raise ValueError("it has several rows with the same key")
        except (KeyError, ValueError, TypeError, OverflowError) as error:
            why = f"{type(error).__name__}: {error}"
            raise ConfigurationError(f"{name} of {run.folder} can't be compared: {why}") from None
        found.append(groups.rename_axis("what").reset_index().assign(file=name))
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=_COLUMNS)


def _exact(table: pd.DataFrame, how: Exact) -> pd.DataFrame:
    value = table[how.value].astype(float)
    spread = (table["high"] - table["low"]) / _INTERVAL / value if how.scored else 0.0
    groups = pd.DataFrame({"value": value, "spread": spread})
    if "source" in how.key:  # a processor's counters, read once, are not exact
        groups["spread"] = groups["spread"].where(table["source"] != "PAPI")
    groups.index = _what(table[list(how.key)])
    return groups.assign(
        repeats=1, measure=how.value, better=how.better, tolerance=how.tolerance, floor=0.0
    )


def _repeated(table: pd.DataFrame, repeat: str, measure: str) -> pd.DataFrame:
    work = [column for column in _WORK if column in table]
    key = table.columns.drop([measure, repeat, *work, *_DERIVED], errors="ignore")
    value = table[measure].astype(float) / table[work].prod(axis=1)
    grouped = value.groupby(_what(table[key]), sort=False)
    median, repeats = grouped.median(), grouped.size()
    spread = (grouped.quantile(0.75) - grouped.quantile(0.25)) / _QUARTILES / median
    groups = pd.DataFrame({"value": median, "spread": spread.where(repeats >= MIN_REPEATS)})
    return groups.assign(repeats=repeats, measure=measure, better=_BETTER[measure], tolerance=0.0)


def _what(key: pd.DataFrame) -> list[str]:
    """Puts each row's columns into words: "cpp · bool · num_envs 64"."""
    rows = key.to_dict("records")
    return [" · ".join(_word(*item) for item in row.items()) or "all" for row in rows]


def _word(name: str, value) -> str:
    if isinstance(value, str):
        return value
    # A whole number may be read as a float, where its column has gaps.
    return f"{name} {value:.12g}" if isinstance(value, float) else f"{name} {value}"


def _only(one: Run, other: Run, groups: pd.DataFrame, both: pd.DataFrame) -> dict[str, int]:
    rest = groups["file"].value_counts().sub(both["file"].value_counts(), fill_value=0).astype(int)
    files = [name for name in one.tables if name not in other.tables or rest.get(name, 0)]
    return {name: int(rest.get(name, 0)) for name in files}


def _judged(both: pd.DataFrame) -> pd.DataFrame:
    a, b = both["value_a"].astype(float), both["value_b"].astype(float)
    spread = np.hypot(both["spread_a"].astype(float), both["spread_b"].astype(float))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (b / a).where(a != b, 1.0)
    own = 1 + _SPREADS * spread
    noise = own.clip(lower=1 + both["floor"].astype(float))
    gain = np.sign(b - a) * both["better"].astype(int)
    verdict = np.select(
        [
            np.abs(b - a) <= both["tolerance"].astype(float),
            ~(np.isfinite(noise) & ratio.notna()),
            _factor(ratio) <= noise,
            gain > 0,
            gain < 0,
        ],
        ["same", "unjudged", "same", "better", "worse"],
        "changed",
    )
    judged = {"a": a, "b": b, "ratio": ratio, "low": ratio / own, "high": ratio * own}
    judged |= {"noise": noise, "verdict": verdict}
    return both.assign(**judged)[_JUDGED]


def _factor(ratio: pd.Series) -> pd.Series:
    """Returns how large a change is, up or down."""
    with np.errstate(divide="ignore"):
        return np.maximum(ratio, 1 / ratio)
