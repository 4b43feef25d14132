"""Generates the table of recorded machines, in `docs/machines.md`."""

from pathlib import Path

import pandas as pd

from rungs_course.machine.naming import in_words, slug_of
from rungs_course.measure import results
from rungs_course.pages.numbers import GAINS, LADDER, RACE, ladder_rates, smallest_gains
from rungs_course.plots import ratio, speed
from rungs_course.tables import fill, markdown

_PAGE = Path("docs") / "machines.md"


def write_machines(root: Path) -> None:
    """Writes the recorded machines into `docs/machines.md`, if that exists."""
    page = root / _PAGE
    if page.exists():
        page.write_text(filled(page.read_text(), root))


def filled(page: str, root: Path, run: Path | None = None) -> str:
    """Returns the page of machines with its table; the run in the folder `run` is shown next to the
    recorded ones.
    """
    return fill(page, {"machines": side_by_side(root, run)})


def side_by_side(root: Path, run: Path | None = None) -> str:
    """Writes a table of machines: a column each, and what was measured in its rows.

    The column of `run` comes first; the last one compares it with the recorded machine of the same
    name, or else of the nearest number of cores.
    """
    folders = sorted(path.parent for path in (root / "data" / "recorded").glob(f"*/{LADDER}"))
    recorded = {folder.name: _measured(folder) for folder in folders}
    run_results = run / "results" if run else None
    if not run_results or not (run_results / LADDER).exists():
        return f"{_machines_table(recorded)}\n"
    measured = _measured(run_results)
    text = {"yours": measured} | recorded
    if not recorded:
        return f"{_machines_table(text)}\n"
    other = _nearest(measured, recorded)
    name = slug_of(measured.attrs)
    why = "the same name" if other == name else "the nearest number of cores"
    compared = _machines_table(text, ("yours", other))
    return (
        f"Your machine: {in_words(measured.attrs)}, size `{measured.attrs['size']}`. The last "
        f"column divides your value by that of `{other}`, the recorded machine with {why}.\n\n"
        f"{compared}\n"
    )


def _measured(folder: Path) -> pd.Series:
    """Returns a machine's measured values by the row's title; `attrs` are the machine's facts."""
    ladder, race = (results.load(folder / name) for name in (LADDER, RACE))
    rates = ladder_rates(ladder, race)
    values = {f"`{row.rung}`, plies/s": row.plies_per_second for row in rates.itertuples()}
    if (folder / GAINS).exists():
        gains = smallest_gains(results.load(folder / GAINS))
        values |= {f"times as fast as {row.peer}": row.gain for row in gains.itertuples()}
    series = pd.Series(values, dtype=float)
    series.attrs = ladder.attrs["provenance"]
    return series


def _nearest(mine: pd.Series, recorded: dict[str, pd.Series]) -> str:
    name, cores = slug_of(mine.attrs), int(mine.attrs["cores"])
    if name in recorded:
        return name
    return min(recorded, key=lambda other: abs(int(recorded[other].attrs["cores"]) - cores))


def _machines_table(machines: dict[str, pd.Series], pair: tuple[str, str] | None = None) -> str:
    rows = list(dict.fromkeys(row for series in machines.values() for row in series.index))
    columns: dict[str, list[str]] = {"": ["machine", "recorded", *rows]}
    for name, series in machines.items():
        facts = series.attrs
        head = [in_words(facts), f"{facts['date'][:10]}, {facts['commit']}"]
        columns[name] = head + [_written(row, series.get(row)) for row in rows]
    if pair:
        mine, other = (machines[name] for name in pair)
        factors = (mine.get(row, float("nan")) / other.get(row, float("nan")) for row in rows)
        columns["yours / recorded"] = ["", ""] + [
            "" if pd.isna(factor) else ratio(factor) for factor in factors
        ]
    return markdown(pd.DataFrame(columns))


def _written(row: str, value: float | None) -> str:
    if value is None or pd.isna(value):
        return ""
    return speed(value) if row.endswith("plies/s") else ratio(value)
