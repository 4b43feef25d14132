"""Every machine that results were recorded on, side by side; and the reader's own beside them."""

import re
from pathlib import Path

import pandas as pd

from rungs._src.machine.describe import in_words, slug_of
from rungs_course.measure import results
from rungs_course.show import tables
from rungs_course.show.style import ratio, speed

_LADDER, _GAINS = "07_ladder.csv", "12_gains.csv"
_PAGE = Path("docs") / "machines.md"
_SECTION = re.compile(r"(<!-- machines -->\n).*(<!-- /machines -->)", re.DOTALL)


def write(root: Path) -> None:
    """Puts the recorded machines into `docs/machines.md`, where that is there."""
    page = root / _PAGE
    if page.exists():
        page.write_text(filled(page.read_text(), root))


def filled(page: str, root: Path, run: Path | None = None) -> str:
    """Returns the page of machines with its table.

    Args:
        page: its text, with a place for it.
        root: of the source tree.
        run: the folder of the reader's run, to stand beside the recorded ones.
    """
    made = side_by_side(root, run)
    return _SECTION.sub(lambda match: match[1] + made + match[2], page)


def side_by_side(root: Path, run: Path | None = None) -> str:
    """Writes a table of machines: a column each, and what was measured in its rows.

    Args:
        root: of the source tree.
        run: as of `filled`. Its column comes first; the last one compares it with the recorded
            machine of the same name, or else of the nearest number of cores.
    """
    folders = sorted(path.parent for path in (root / "data" / "recorded").glob(f"*/{_LADDER}"))
    recorded = {folder.name: _measured(folder) for folder in folders}
    yours = run / "results" if run else None
    if not yours or not (yours / _LADDER).exists():
        return f"{_table(recorded)}\n"
    mine = _measured(yours)
    text = {"yours": mine} | recorded
    if not recorded:
        return f"{_table(text)}\n"
    other = _nearest(mine, recorded)
    name = slug_of(mine.attrs)
    why = "the same machine" if other == name else "the nearest number of cores"
    beside = _table(text, ("yours", other))
    return (
        f"Yours is {in_words(mine.attrs)}, size `{mine.attrs['size']}`; the last column is "
        f"yours over `{other}`, of those recorded {why}.\n\n{beside}\n"
    )


def _measured(folder: Path) -> pd.Series:
    """Returns what was measured on a machine, by what it is; `attrs` are its facts."""
    ladder = results.load(folder / _LADDER)
    values = {f"`{row.rung}`, plies/s": row.plies_per_second for row in ladder.itertuples()}
    if (folder / _GAINS).exists():
        gains = results.load(folder / _GAINS).groupby("peer", sort=False)["gain"].min()
        gains = gains.drop("python-chess", errors="ignore")  # which is our rung `python`
        values |= {f"times as fast as {peer}": gain for peer, gain in gains.items()}
    series = pd.Series(values, dtype=float)
    series.attrs = ladder.attrs["provenance"]
    return series


def _nearest(mine: pd.Series, recorded: dict[str, pd.Series]) -> str:
    name, cores = slug_of(mine.attrs), int(mine.attrs["cores"])
    if name in recorded:
        return name
    return min(recorded, key=lambda other: abs(int(recorded[other].attrs["cores"]) - cores))


def _table(machines: dict[str, pd.Series], pair: tuple[str, str] | None = None) -> str:
    rows = list(dict.fromkeys(row for series in machines.values() for row in series.index))
    columns: dict[str, list[str]] = {"": ["machine", "recorded", *rows]}
    for name, series in machines.items():
        facts = series.attrs
        head = [in_words(facts), f"{facts['date'][:10]}, {facts['commit']}"]
        columns[name] = head + [_written(row, series.get(row)) for row in rows]
    if pair:
        mine, other = (machines[name] for name in pair)
        factors = (mine.get(row, float("nan")) / other.get(row, float("nan")) for row in rows)
        columns["yours over it"] = ["", ""] + [
            "" if pd.isna(factor) else ratio(factor) for factor in factors
        ]
    return tables.markdown(pd.DataFrame(columns))


def _written(row: str, value: float | None) -> str:
    if value is None or pd.isna(value):
        return ""
    return speed(value) if row.endswith("plies/s") else ratio(value)
