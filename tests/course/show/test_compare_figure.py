"""Two runs' comparison as people see it."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rungs_course import comparison
from rungs_course.measure.compare import Run, compare

FACTS = {"machine": "AMD EPYC", "gpu": "None", "cores": "2", "size": "full", "seed": "0"}
FACTS |= {"commit": "abc1234", "date": "2026-11-21T12:00:00+00:00"}
RULES = pd.DataFrame({"peer": ["rungs", "Pgx"], "rule": "stalemate", "disagreements": 0})


def race(times, repeats=9):
    rows = [
        (racer, repeat, seconds * factor)
        for racer, seconds in times.items()
        for repeat, factor in enumerate(np.linspace(0.98, 1.02, repeats))
    ]
    return pd.DataFrame(rows, columns=["racer", "repeat", "seconds"])


def run(name, tables, **facts):
    for table in tables.values():
        table.attrs["provenance"] = FACTS | facts
    return Run(Path(name), tables)


def two(before, after, **facts):
    return compare(run("before", before), run("after", after, **facts))


@pytest.fixture
def changed():
    slow, quick = {"python": 9.0, "cpp": 1e-3, "mpi": 1.0}, {"python": 9.0, "cpp": 2e-3, "mpi": 0.5}
    code = pd.DataFrame({"architecture": ["sm_90"], "bytes of machine code": [1000]})
    more = code.assign(**{"bytes of machine code": 9000})
    return two(
        {"06_compiled.csv": code, "07_race.csv": race(slow), "12_rules.csv": RULES},
        {
            "06_compiled.csv": more,
            "07_race.csv": race(quick),
            "12_rules.csv": RULES.assign(disagreements=[3, 0]),
        },
    )


def test_a_report_has_a_row_per_change(changed):
    lines = comparison.report(changed).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[3:9]]
    assert cells[2] == ["12_rules: rungs · stalemate", "0", "3", "inf×", "1×", "worse"]
    assert ["07_race: cpp", "1 ms", "2 ms", "2×", "1.1×", "worse"] in cells
    assert ["07_race: mpi", "1 s", "500 ms", "0.5×", "1.1×", "better"] in cells
    assert cells[5] == ["06_compiled: sm_90", "1,000", "9,000", "9×", "1×", "changed"]
    assert len({len(line) for line in lines[3:9]}) == 1  # the columns stand below one another


def test_the_figure_has_a_row_per_change(changed):
    figure = comparison.figure(changed)
    figure.draw_without_rendering()
    (axes,) = figure.axes
    assert len(axes.texts) == len(axes.get_yticklabels()) == 4
    marks = {bars.get_label(): bars.lines[0] for bars in axes.containers}
    # From zero there's no ratio to draw.
    assert marks["worse"].get_xydata().tolist() == pytest.approx(np.array([[2, 1]]))
    assert marks["better"].get_xydata().tolist() == pytest.approx(np.array([[0.5, 2]]))
    assert len({mark.get_marker() for mark in marks.values()}) == 3


def test_the_largest_changes_are_shown_and_the_rest_counted():
    times = {f"racer {number:02}": 1.0 for number in range(comparison.MOST + 5)}
    slower = {racer: 2.0 + number for number, racer in enumerate(times)}
    found = two({"07_race.csv": race(times)}, {"07_race.csv": race(slower)})
    report = comparison.report(found)
    assert "| 07_race: racer 24 |" in report
    assert "racer 04" not in report
    assert "and 5 smaller changes" in report
    assert len(comparison.figure(found).axes[0].texts) == comparison.MOST


def test_nothing_changed_is_said_and_drawn():
    table = {"07_race.csv": race({"cpp": 1.0})}
    found = two(table, table)
    assert "Nothing changed beyond the noise." in comparison.report(found)
    comparison.figure(found).draw_without_rendering()


def test_what_cannot_be_judged_is_said():
    found = two({"1.csv": race({"cpp": 1.0}, 2)}, {"1.csv": race({"cpp": 2.0}, 2)})
    report = comparison.report(found)
    assert "1 not judged (fewer than 5 repeats, or zeros)" in report
    assert "median" not in report  # of none


@pytest.mark.parametrize(("factor", "said"), [(1.5, True), (1 / 1.5, True), (1.05, False)])
def test_a_run_that_is_slower_or_faster_as_a_whole_is_doubted(factor, said):
    times = {"python": 9.0, "cpp": 1.0, "mpi": 2.0}
    after = {racer: seconds * factor for racer, seconds in times.items()}
    report = comparison.report(two({"1.csv": race(times)}, {"1.csv": race(after)}))
    assert ("was it as idle for A as for B?" in report) == said


def test_what_only_one_has_and_what_is_not_compared_is_named():
    ladder = pd.DataFrame({"rung": ["cpp"]})
    found = two(
        {"07_ladder.csv": ladder, "07_race.csv": race({"cpp": 1.0, "mpi": 1.0})},
        {"07_ladder.csv": ladder, "07_race.csv": race({"cpp": 1.0}), "08_rungs.csv": ladder},
    )
    said = comparison.report(found).splitlines()[-3:]
    tables = ("07_race.csv", "08_rungs.csv", "07_ladder.csv")
    assert all(table in line for table, line in zip(tables, said, strict=True))


def test_other_machines_and_settings_are_told_once():
    tables = {name: race({"cpp": 1.0}) for name in ("1.csv", "2.csv")}
    after = {name: table.copy() for name, table in tables.items()}
    report = comparison.report(two(tables, after, machine="Arm", size="quick")).splitlines()
    warning = "These are different machines: ratios are of the machines as much as of the code."
    assert report.count(warning) == 1
    assert report.count("machine differs: AMD EPYC in A, Arm in B") == 1
    assert report.count("size differs: full in A, quick in B") == 1
    same = {name: table.copy() for name, table in tables.items()}
    assert warning not in comparison.report(two(tables, same, size="quick"))
