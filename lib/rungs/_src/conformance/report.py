"""Results of the suite as text, Markdown or JSON."""

import dataclasses
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from rungs._src.conformance.run import FAILS, NOT_OFFERED, PASSES, Result
from rungs._src.conformance.suite import Suite

Results = dict[str, list[Result]]
Table = list[tuple[str, ...]]


def summary(suite: Suite, results: Results) -> Table:
    """Counts passes of supported cases: a row per group, a column per environment."""
    group_of = {case.id: case.group for case in suite.cases}
    table: Table = [("group", "kind", *results)]
    for group in suite.groups.values():
        cells = [group.name, group.kind]
        for played in results.values():
            statuses = [result.status for result in played if group_of[result.case] == group.name]
            num_supported = len(statuses) - statuses.count(NOT_OFFERED)
            cells.append(f"{statuses.count(PASSES)} of {num_supported}" if num_supported else "-")
        table.append(tuple(cells))
    return table


def failures(results: Results) -> Table:
    """Lists failures with their positions, below a row of names."""
    rows = [
        (name, result.case, result.fen, result.expected, result.found)
        for name, played in results.items()
        for result in played
        if result.status == FAILS
    ]
    return [("environment", "case", "position", "what must hold", "what it says"), *rows]


def not_offered(results: Results) -> Table:
    """Counts the unsupported cases by what is lacking, below a row of names."""
    counts = Counter(
        (name, result.found)
        for name, played in results.items()
        for result in played
        if result.status == NOT_OFFERED
    )
    rows = [(name, feature, str(count)) for (name, feature), count in counts.items()]
    return [("environment", "not offered", "cases"), *rows]


def text(suite: Suite, results: Results, versions: dict[str, str]) -> str:
    """Returns results as text for a terminal; `versions` by environment, as `results`."""
    return _write(suite, results, versions, _aligned, "{}:")


def markdown(suite: Suite, results: Results, versions: dict[str, str]) -> str:
    return "# Who plays chess\n\n" + _write(suite, results, versions, _markdown, "## {}")


def as_json(suite: Suite, results: Results, versions: dict[str, str]) -> str:
    listed = {
        name: {
            "version": versions[name],
            "results": [dataclasses.asdict(result) for result in played],
        }
        for name, played in results.items()
    }
    return json.dumps({"suite": suite.version, "environments": listed}, indent=1) + "\n"


FORMATS = {"text": text, "markdown": markdown, "json": as_json}


def _write(
    suite: Suite,
    results: Results,
    versions: dict[str, str],
    write: Callable[[Table], str],
    heading: str,
) -> str:
    names = [n for n, played in results.items() if any(r.status != NOT_OFFERED for r in played)]
    versioned = ", ".join(f"{name} {versions[name]}".strip() for name in names) or "none"
    parts = [
        heading.format("What holds"),
        f"Version {suite.version} of the suite, {len(suite.cases)} cases. Played by {versioned}.",
        write(summary(suite, {name: results[name] for name in names})),
    ]
    for title, table in (
        ("What does not hold", failures(results)),
        ("What can't be asked", not_offered(results)),
    ):
        parts += [heading.format(title), write(table) if len(table) > 1 else "Nothing."]
    return "\n\n".join(parts) + "\n"


def _markdown(table: Sequence[Iterable[str]]) -> str:
    head, *rows = ([cell.replace("|", "\\|") for cell in row] for row in table)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _aligned(table: Table) -> str:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in table
    )
    return "\n".join(line.rstrip() for line in lines)
