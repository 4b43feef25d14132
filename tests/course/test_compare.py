"""Runs compared with each other: what is a change, what is noise, and what can't be judged."""

import numpy as np
import pandas as pd
import pytest

from rungs.errors import ConfigurationError
from rungs_course import comparison
from rungs_course.measure import results
from rungs_course.measure.compare import MIN_REPEATS, compare, read

# Of a quiet machine: the quartiles are 2 % apart.
REPEATS = np.linspace(0.98, 1.02, 9)
NOISY, OUTLIER = np.linspace(0.6, 1.4, 9), [*REPEATS[:-1], 50.0]


def race(seconds, repeats=REPEATS):
    """A race's table: racers by name, each with the median of its seconds for four plies."""
    rows = [
        (racer, repeat, 4, 4 * median * factor)
        for racer, median in seconds.items()
        for repeat, factor in enumerate(repeats)
    ]
    return pd.DataFrame(rows, columns=["racer", "repeat", "plies", "seconds"])


@pytest.fixture
def run(tmp_path):
    """Writes a run's tables, and reads them."""

    def write(name, tables, **parameters):
        facts = {"machine": "AMD EPYC", "cores": 2, "size": "full"} | parameters
        for file, table in tables.items():
            results.write(table, tmp_path / name / "results" / file, facts)
        return read(tmp_path / name)

    return write


def few(seconds, repeats):
    return race({"cpp": seconds}, REPEATS[:repeats])


def counts(source, per_ply):
    columns = {"boards": 64, "count": "instructions", "source": source, "per ply": [per_ply]}
    return pd.DataFrame(columns)


def verdicts(comparison):
    return dict(zip(comparison.groups["what"], comparison.groups["verdict"], strict=True))


ONE = race({"cpp": 1.0})
RULES = pd.DataFrame({"peer": ["Pgx"], "rule": "stalemate", "disagreements": [1]})
SCORES = pd.DataFrame(
    [("cpp", 20, 0.8, 0.78, 0.82), ("cpp", 40, 0.9, 0.8, 0.95)],
    columns=["rung", "update", "score", "low", "high"],
)
CASES = [
    ("07_race.csv", ONE, ONE.assign(plies=12, seconds=3 * ONE["seconds"]), ["same"]),
    ("07_race.csv", ONE, race({"cpp": 1.05}), ["same"]),
    ("07_race.csv", ONE, race({"cpp": 1.4}), ["worse"]),
    ("07_race.csv", ONE, race({"cpp": 0.7}), ["better"]),
    ("07_race.csv", ONE, race({"cpp": 1.4}, NOISY), ["same"]),
    ("07_race.csv", race({"cpp": 1.0}, OUTLIER), ONE, ["same"]),
    ("07_race.csv", race({"cpp": 0.0}), ONE, ["unjudged"]),
    ("07_race.csv", few(1.0, MIN_REPEATS - 1), few(9.0, MIN_REPEATS - 1), ["unjudged"]),
    ("07_race.csv", few(1.0, MIN_REPEATS), few(9.0, MIN_REPEATS), ["worse"]),
    ("09_counts.csv", counts("callgrind", 1400.0), counts("callgrind", 1400.04), ["same"]),
    ("09_counts.csv", counts("callgrind", 1400.0), counts("callgrind", 1400.06), ["worse"]),
    ("09_counts.csv", counts("PAPI", 1400.0), counts("PAPI", 1900.0), ["unjudged"]),
    ("12_rules.csv", RULES, RULES.assign(disagreements=0), ["better"]),
    ("15_evaluations.csv", SCORES, SCORES.assign(score=SCORES["score"] - 0.1), ["worse", "same"]),
]


@pytest.mark.parametrize(("file", "before", "after", "expected"), CASES)
def test_two_versions_of_a_table(run, file, before, after, expected):
    compared = compare(run("a", {file: before}), run("b", {file: after}))
    assert [*verdicts(compared).values()] == expected


def test_what_differs_between_runs_is_told_apart(run):
    a = run("a", {"1.csv": race({"cpp": 1.0, "mpi": 1.0}), "2.csv": ONE}, flags="-O3")
    b = run("b", {"1.csv": ONE, "3.csv": RULES}, flags="-O2")
    compared = compare(a, b)
    assert verdicts(compared) == {"cpp": "same"}
    assert compared.only == {"A": {"1.csv": 1, "2.csv": 1}, "B": {"3.csv": 0}}
    assert compared.differing == {"1.csv": {"flags": ("-O3", "-O2")}}
    skipped = compare(run("c", {"1.csv": ONE}, num_envs=8), run("d", {"1.csv": ONE}, num_envs=9))
    assert [*skipped.skipped] == ["1.csv"]
    assert skipped.groups.empty


def test_what_can_not_be_compared_is_named(run, tmp_path):
    a = run("a", {"02_race.csv": ONE.drop(columns="repeat").assign(repeat=0, plies="many")})
    with pytest.raises(ConfigurationError, match="02_race"):
        compare(a, a)
    with pytest.raises(ConfigurationError, match="nan"):
        compare(a, a, float("nan"))
    with pytest.raises(ConfigurationError, match="nowhere"):
        read(tmp_path / "nowhere")


def test_a_report_and_a_figure_show_the_largest_changes_first(run):
    number = comparison.MOST + 5
    before = run("a", {"07_race.csv": race({f"racer {i:02}": 1.0 for i in range(number)})})
    after = run("b", {"07_race.csv": race({f"racer {i:02}": 2.0 + i for i in range(number)})})
    compared = compare(before, after)
    rows = [line for line in comparison.report(compared).splitlines() if line.startswith("|")][2:]
    assert [cell.strip() for cell in rows[0].strip("|").split("|")] == [
        "07_race: racer 24", "1 s", "26 s", "26×", "1.1×", "worse",
    ]  # fmt: skip
    assert len(rows) == len(comparison.figure(compared).axes[0].texts) == comparison.MOST
    assert "worse" not in comparison.report(compare(before, before)).partition("groups")[0]
