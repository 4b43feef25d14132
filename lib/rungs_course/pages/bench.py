"""Generates the table of races against other projects' environments, in `docs/bench.md`."""

from pathlib import Path

import pandas as pd

from rungs_course import bench, peers
from rungs_course.machine.naming import in_words
from rungs_course.measure import results
from rungs_course.pages.numbers import GAINS, smallest_gains
from rungs_course.peers import race
from rungs_course.peers.ours import OUTPUTS
from rungs_course.plots import ratio, speed
from rungs_course.tables import fill, markdown, with_interval

_BENCH = Path("docs") / "bench.md"
# What notebook 12 records: its race on one core, and the rules that python-chess decides otherwise.
_ALONE, _RULES = "12_alone.csv", "12_rules.csv"


def write_bench(root: Path) -> None:
    """Puts the results of `data/bench/` and of notebook 12 into `docs/bench.md`, if that exists."""
    page = root / _BENCH
    if page.exists():
        page.write_text(fill(page.read_text(), {"bench": benched(root)}))


def benched(root: Path) -> str:
    """Writes the results of `data/bench/` and of notebook 12 as a table, the fastest first."""
    lines = []
    for path in sorted((root / "data" / "bench").glob("*.json")):
        result = bench.read(path)
        name, facts = result["name"], result["facts"]
        busy = "; busy" if result["disturbed"] else ""
        source = f"{_source('`bench`', path.relative_to(root), facts)}{busy}"
        environment = f"{name} {result['version']}".strip()
        rules = _verdict(result["conformance"])
        lines.append(_line(bench.table(result), name, environment, source, rules))
    for path in sorted((root / "data" / "recorded").glob(f"*/{_ALONE}")):
        lines += _of_notebook(path, root)
    if not lines:
        return "No entries yet.\n"
    table = pd.DataFrame(lines).fillna("")
    table["best"] = table.groupby("project")["rate"].transform("max")
    table = table.sort_values(["best", "project", "rate"], ascending=[False, True, False])
    return f"{markdown(table.drop(columns=['best', 'project', 'rate']))}\n"


def _of_notebook(path: Path, root: Path) -> list[dict]:
    """Returns the table's lines of a machine's recorded notebook 12."""
    times, rules = results.load(path), results.load(path.with_name(_RULES))
    nearest = smallest_gains(results.load(path.with_name(GAINS))).set_index("peer")["ours"]
    facts = times.attrs["provenance"]
    table = race.table(times, pd.to_numeric(facts["clock_mhz"], errors="coerce"))
    source = _source("notebook 12", path.relative_to(root), facts)
    otherwise = "not " + rules[rules["disagreements"] > 0].groupby("peer")["rule"].agg(", ".join)
    lines = []
    for name in table.index:
        project = name.partition(",")[0]
        if project in peers.PROJECTS:
            held = otherwise.get(project, "no disagreement seen")
            lines.append(_line(table, name, name, source, held, nearest.get(name)))
    return lines


def _source(title: str, path: Path, facts: dict) -> str:
    """Writes which race a line is of, as `docs/bench.md` links to it."""
    return f"[{title}](../{path.as_posix()}), {facts['date'][:10]}, {in_words(facts)}"


def _line(
    table: pd.DataFrame,
    name: str,
    environment: str,
    source: str,
    rules: str,
    nearest: str | None = None,
) -> dict:
    """Returns the line of an environment in a race; in bold the factor of the `nearest` outputs."""
    row, line = table.loc[name], {}
    for outputs in OUTPUTS:
        other, factor = table.loc[outputs], row[outputs]
        title = f"{outputs}, {other['bytes_per_ply']:,.0f} bytes, over it"
        cell = with_interval(factor.middle, factor.low, factor.high)
        cell = f"**{cell}**" if outputs == nearest else cell
        line[title] = f"{cell}, {other['num_envs']:,} boards"
    return {
        "project": name.partition(",")[0],
        "rate": row["rate"],
        "Environment": environment,
        "Race": source,
        **_cells(row),
        **line,
        "Rules": rules,
    }


def bench_in_words(result: dict) -> str:
    """Writes a result of `rungs_course.bench` for the screen: a row for each racer."""
    table = bench.table(result).loc[[result["name"], *OUTPUTS]]
    rate = table["rate"].iloc[0]
    lines = pd.DataFrame(
        [
            {"": name, **_cells(row), "as fast": ratio(row["rate"] / rate)}
            for name, row in table.iterrows()
        ]
    )
    return "\n".join(
        [
            lines.to_string(index=False),
            f"Rules: {_verdict(result['conformance'])}",
            *(f"Disturbed: {disturbance}" for disturbance in result["disturbed"]),
        ]
    )


def _cells(row: pd.Series) -> dict[str, str]:
    """Writes a racer's measurements, from a row of `rungs_course.peers.race.table`."""

    def cell(name: str, form: str) -> str:
        return "" if pd.isna(row[name]) else form.format(row[name])

    return {
        "Boards": f"{row['num_envs']:,}",
        "plies/s": speed(row["rate"]),
        "per 1,000 cycles": cell("per_kilocycle", "{:.3g}"),
        "Bytes per ply": cell("bytes_per_ply", "{:,.0f}"),
        "Of the bound": cell("share", "{:.1%}"),
    }


def _verdict(conformance: dict) -> str:
    """Writes how many cases of the suite pass, and names some of those that fail."""
    failed = conformance["failed"]
    decided = conformance["passes"] + len(failed)
    some = ", ".join(f"`{case}`" for case in failed[:3])
    more = f" and {len(failed) - 3} more" if len(failed) > 3 else ""
    fails = f"; not {some}{more}" if failed else ""
    return f"{conformance['passes']} of {decided} hold{fails}"
