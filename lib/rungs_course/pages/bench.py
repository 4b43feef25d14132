"""Generates the table of other projects' environments, in `docs/bench.md`."""

from pathlib import Path

import pandas as pd

from rungs._src.machine.describe import in_words
from rungs_course import bench
from rungs_course.plots import ratio, speed
from rungs_course.tables import fill, markdown, with_interval

_BENCH = Path("docs") / "bench.md"


def write_bench(root: Path) -> None:
    """Puts the results of `data/bench/` into `docs/bench.md`."""
    page = root / _BENCH
    page.write_text(fill(page.read_text(), {"bench": benched(root)}))


def benched(root: Path) -> str:
    """Writes the results of `data/bench/` as a table, by machine, the fastest first."""
    bench_results = [bench.read(path) for path in sorted((root / "data" / "bench").glob("*.json"))]
    if not bench_results:
        return "No entries yet.\n"
    lines = []
    for result in bench_results:
        table, facts = bench.rows(result), result["facts"]
        raced = table.iloc[0]
        machine = f"{in_words(facts)}, {facts['date'][:10]}"
        busy = "; busy" if result["disturbed"] else ""
        lines.append(
            {
                "Machine": f"{machine}{busy}",
                "rate": -raced["rate"],
                "Environment": f"{result['name']} {result['version']}".strip(),
                **_bench_cells(raced),
                "Ours, over it": "; ".join(
                    f"{row.racer.removeprefix('rungs, ')} "
                    f"{with_interval(row.gain, row.gain_low, row.gain_high)}"
                    for row in table.iloc[1:].itertuples()
                ),
                "Rules": _verdict(result["conformance"]),
            }
        )
    lines.sort(key=lambda line: (line["Machine"], line["rate"]))
    return f"{markdown(pd.DataFrame(lines).drop(columns='rate'))}\n"


def bench_in_words(result: dict) -> str:
    """Writes a result of `rungs_course.bench` for the screen: a row for each racer."""
    table = bench.rows(result)
    lines = pd.DataFrame(
        [
            {"": row["racer"], **_bench_cells(row), "as fast": ratio(row["gain"])}
            for row in table.to_dict("records")
        ]
    )
    return "\n".join(
        [
            lines.to_string(index=False),
            f"Rules: {_verdict(result['conformance'])}",
            *(f"Disturbed: {disturbance}" for disturbance in result["disturbed"]),
        ]
    )


def _bench_cells(row) -> dict[str, str]:
    """Writes a racer's measurements, from a row of `rungs_course.bench.rows`."""

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
