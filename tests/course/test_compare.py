"""Runs side by side: what is a change, what is noise, and what can't be judged."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rungs.errors import ConfigurationError
from rungs_course import comparison
from rungs_course.measure import results
from rungs_course.measure.compare import MIN_REPEATS, Run, compare, read

# Of a quiet machine: the quartiles are 2 % apart.
REPEATS = np.linspace(0.98, 1.02, 9)


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
        for file, table in tables.items():
            results.save(table, tmp_path / name / "results" / file, {"size": "full"} | parameters)
        return read(tmp_path / name)

    return write


def verdicts(found):
    return dict(zip(found.groups["what"], found.groups["verdict"], strict=True))


def test_times_are_judged_by_the_time_of_a_ply(run):
    a = run("a", {"07_race.csv": race({"python": 9.0, "cpp": 1.0, "openmp": 0.5})})
    b = run("b", {"07_race.csv": race({"python": 9.3, "cpp": 1.25, "openmp": 0.25})})
    found = compare(a, b)
    assert verdicts(found) == {"python": "same", "cpp": "worse", "openmp": "better"}
    changes = found.changes.set_index("what")
    assert list(changes.index) == ["openmp", "cpp"]  # the largest change first
    assert changes.loc["cpp", "ratio"] == pytest.approx(1.25)
    assert changes.loc["cpp", "b"] == pytest.approx(1.25)


NOISY, WILD = np.linspace(0.6, 1.4, 9), [*REPEATS[:-1], 50.0]
ONE = race({"cpp": 1.0})
PARTS = ONE.drop(columns="plies").rename(columns={"racer": "part"})
COUNT = pd.DataFrame({"boards": 64, "count": "instructions", "per ply": [1400.0]})
SCORES = pd.DataFrame(
    [("cpp", 20, 0.8, 0.78, 0.82), ("cpp", 40, 0.9, 0.8, 0.95)],
    columns=["rung", "update", "score", "low", "high"],
)
CODE = pd.DataFrame({"architecture": ["sm_90"], "bytes of machine code": [550_000]})


def per_second(read, copy):
    return race({"read": read, "copy": copy}).rename(columns={"seconds": "per_second"})


def few(seconds, repeats):
    return race({"cpp": seconds}, REPEATS[:repeats])


def counted(source, per_ply):
    return COUNT.assign(**{"source": source, "per ply": per_ply})


def callgrind(per_ply, verdict):
    tables = counted("callgrind", 1400.0), counted("callgrind", per_ply)
    return "09_counts.csv", *tables, {"boards 64 · instructions · callgrind": verdict}


def cpp(verdict, before, after, file="07_race.csv"):
    return file, before, after, {"cpp": verdict}


CASES = {
    "more work in more time": cpp("same", ONE, ONE.assign(plies=12, seconds=3 * ONE["seconds"])),
    "more per second": (
        "08_bandwidth.csv",
        per_second(1.0, 1.0),
        per_second(1.3, 0.7),
        {"read": "better", "copy": "worse"},
    ),
    "a narrow spread": cpp("worse", ONE, race({"cpp": 1.4})),
    "a wide spread": cpp("same", race({"cpp": 1.0}, NOISY), race({"cpp": 1.4}, NOISY)),
    "a wide spread of A": cpp("same", race({"cpp": 1.0}, NOISY), race({"cpp": 1.4})),
    "a wide spread of B": cpp("same", ONE, race({"cpp": 1.4}, NOISY)),
    "one wild repeat": cpp("same", race({"cpp": 1.0}, WILD), ONE),
    "one wild repeat and a change": cpp(
        "worse", race({"cpp": 1.0}, WILD), race({"cpp": 1.4}, WILD)
    ),
    "too few repeats": cpp("unjudged", few(1.0, MIN_REPEATS - 1), few(9.0, MIN_REPEATS - 1)),
    "just enough": cpp("worse", few(1.0, MIN_REPEATS), few(9.0, MIN_REPEATS)),
    "from no time": cpp("unjudged", race({"cpp": 0.0}), ONE),
    "to no time": cpp("unjudged", ONE, race({"cpp": 0.0})),
    "a column of updates": cpp(
        "worse",
        PARTS.rename(columns={"repeat": "update"}),
        PARTS.assign(seconds=2 * PARTS["seconds"]).rename(columns={"repeat": "update"}),
        file="00_batch.csv",
    ),
    "a derived column": cpp("same", ONE.assign(call=1.0), ONE.assign(call=2.0), "13_times.csv"),
    "rates next to their seconds": cpp(
        "same", *(ONE.assign(per_second=1 / ONE["seconds"]) for _ in "ab"), "16_race.csv"
    ),
    "a small part of an instruction": callgrind(1400.04, "same"),
    "more instructions": callgrind(1400.06, "worse"),
    "fewer instructions": callgrind(1399.94, "better"),
    "counters, which are not exact": (
        "09_counts.csv",
        counted("PAPI", 1400.0),
        counted("PAPI", 1900.0),
        {"boards 64 · instructions · PAPI": "unjudged"},
    ),
    "code that grew": (
        "06_compiled.csv",
        CODE,
        CODE.assign(**{"bytes of machine code": 550_008}),
        {"sm_90": "changed"},
    ),
    "scores with an interval": (
        "15_evaluations.csv",
        SCORES,
        SCORES.assign(score=SCORES["score"] - 0.1),
        {"cpp · update 20": "worse", "cpp · update 40": "same"},
    ),
}


@pytest.mark.parametrize(("file", "before", "after", "expected"), CASES.values(), ids=CASES)
def test_two_versions_of_a_table(run, file, before, after, expected):
    found = compare(run("a", {file: before}), run("b", {file: after}))
    assert verdicts(found) == expected


@given(
    factor=st.floats(0.2, 5),
    median=st.floats(1e-9, 1e3),
    spread=st.floats(0, 0.6),
    floor=st.floats(0, 1),
)
def test_a_change_is_larger_than_the_floor_and_than_both_spreads(factor, median, spread, floor):
    repeats = 1 + spread * np.linspace(-1, 1, 9)
    tables = race({"cpp": median}, repeats), race({"cpp": median * factor}, repeats)
    (group,) = compare(*map(in_memory, tables), floor).groups.itertuples()
    iqr = spread  # of nine repeats evenly from -spread to spread
    noise = 1 + max(floor, 3 * np.sqrt(2) * iqr / 1.349)
    assert group.noise == pytest.approx(noise)
    if max(factor, 1 / factor) > noise * 1.0001:
        assert group.verdict == ("worse" if factor > 1 else "better")
        assert group.low > 1 or group.high < 1
    elif max(factor, 1 / factor) < noise * 0.9999:
        assert group.verdict == "same"


def in_memory(table):
    table.attrs["provenance"] = {}
    return Run("somewhere", {"07_race.csv": table})


@pytest.mark.parametrize(
    ("factor", "floor", "verdict"),
    [(1.04, 0.0, "same"), (1.08, 0.0, "worse"), (1.08, 0.1, "same"), (1.12, 0.1, "worse")],
)
def test_a_small_change_is_none_nor_one_within_three_spreads(factor, floor, verdict):
    a, b = (in_memory(race({"cpp": seconds})) for seconds in (1.0, factor))
    assert verdicts(compare(a, b, floor)) == {"cpp": verdict}


@pytest.mark.parametrize("repeats", [2, 9])
def test_a_run_beside_itself_has_not_changed(run, repeats):
    a = run("a", {"07_race.csv": race({"cpp": 1.0, "python": 0.0}, REPEATS[:repeats])})
    found = compare(a, a)
    assert verdicts(found) == {"cpp": "same", "python": "same"}
    assert found.changes.empty


def test_a_whole_number_beside_a_gap_is_the_same_number(run):
    table = race({"cpp": 1.0}).assign(length=1, whole=True)
    gap = pd.concat([table, table.assign(racer="python", length=np.nan)])
    found = compare(run("a", {"11.csv": table}), run("b", {"11.csv": gap}))
    assert verdicts(found) == {"cpp · length 1 · whole True": "same"}
    assert found.only == {"A": {}, "B": {"11.csv": 1}}


def test_counts_are_exact(run):
    table = pd.DataFrame(
        [("rungs", "checkmate", 5, 0), ("Pgx", "checkmate", 5, 2), ("Pgx", "stalemate", 5, 2)],
        columns=["peer", "rule", "tried", "disagreements"],
    )
    after = table.assign(tried=6, disagreements=[1, 1, 2])
    found = compare(run("a", {"12_rules.csv": table}), run("b", {"12_rules.csv": after}))
    assert verdicts(found) == {
        "rungs · checkmate": "worse",
        "Pgx · checkmate": "better",
        "Pgx · stalemate": "same",
    }
    # From zero is the largest change there is.
    assert list(found.changes["what"]) == ["rungs · checkmate", "Pgx · checkmate"]


RULES = pd.DataFrame({"peer": ["Pgx"], "rule": "stalemate", "disagreements": [1]})
SHARES = pd.DataFrame({"part": ["rules"], "share": [0.5]})


@pytest.mark.parametrize(
    ("file", "table", "before", "after", "why"),
    [
        ("12_rules.csv", RULES, {"size": "quick"}, {"size": "full"}, "size differs"),
        ("03_compilers.csv", ONE, {"num_envs": 64}, {"num_envs": 512}, "num_envs differs"),
        ("01_profile.csv", SHARES, {}, {}, "neither repeats nor counts"),
    ],
)
def test_what_can_not_be_compared_is_skipped_by_name(run, file, table, before, after, why):
    found = compare(run("a", {file: table}, **before), run("b", {file: table}, **after))
    assert found.skipped == {file: why}
    assert found.groups.empty
    assert found.changes.empty
    assert found.only == {"A": {}, "B": {}}


def test_what_one_run_has_is_counted(run):
    a = run("a", {"1.csv": race({"cpp": 1.0, "mpi": 1.0}), "2.csv": race({"cpp": 1.0})})
    b = run("b", {"1.csv": race({"cpp": 1.0}), "3_ladder.csv": pd.DataFrame({"x": [1]})})
    found = compare(a, b)
    assert verdicts(found) == {"cpp": "same"}
    assert found.only == {"A": {"1.csv": 1, "2.csv": 1}, "B": {"3_ladder.csv": 0}}
    nothing = compare(run("c", {"2.csv": ONE}), run("d", {"3_ladder.csv": SHARES}))
    assert nothing.groups.empty
    assert nothing.only == {"A": {"2.csv": 1}, "B": {"3_ladder.csv": 0}}


def test_settings_that_differ_are_listed_but_not_what_always_does(run):
    tables = {"07_race.csv": race({"cpp": 1.0})}
    a = run("a", tables, flags="-O3", floor_nanoseconds=0.1)
    b = run("b", tables, flags="-O2", floor_nanoseconds=0.2)
    assert compare(a, b).differing == {"07_race.csv": {"flags": ("-O3", "-O2")}}


def test_a_folder_of_tables_is_a_run(run, tmp_path):
    run("a", {"07_race.csv": race({"cpp": 1.0})})
    inside = read(tmp_path / "a" / "results")
    assert list(inside.tables) == ["07_race.csv"]
    assert inside.facts("size") == ["full"]


def test_a_folder_without_results_is_named(tmp_path):
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(ConfigurationError, match=folder.name):
            read(folder)


@pytest.mark.parametrize("floor", [-0.1, float("nan"), float("inf")])
def test_a_floor_is_a_number_from_zero_up(run, floor):
    a = run("a", {"07_race.csv": race({"cpp": 1.0})})
    with pytest.raises(ConfigurationError, match="floor"):
        compare(a, a, floor)


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("02_race.csv", "racer,repeat,seconds,plies\n"),
        ("02_race.csv", "racer,repeat,seconds,plies\na,0,1,many\n"),
        ("02_race.csv", "racer,repeat,seconds,plies\na,0,fast,1\n"),
        ("02_race.csv", f"racer,repeat,seconds\na,0,{'9' * 400}\n"),
        ("12_rules.csv", "peer,disagreements\nPgx,1\n"),
        ("12_rules.csv", "peer,rule,disagreements\nPgx,x,1\nPgx,x,2\n"),
        ("15_evaluations.csv", "rung,update,score,low,high\nx,1,1,low,high\n"),
    ],
)
def test_a_table_that_lacks_something_is_named(name, rows, tmp_path):
    (tmp_path / name).write_text("# machine: m\n" + rows)
    odd = read(tmp_path)
    with pytest.raises(ConfigurationError, match=name):
        compare(odd, odd)


FACTS = {"machine": "AMD EPYC", "gpu": "None", "cores": "2", "size": "full"}


def compared(before, after, **facts):
    """Two runs side by side, the later one of other facts."""
    for tables, own in ((before, FACTS), (after, FACTS | facts)):
        for table in tables.values():
            table.attrs["provenance"] = own
    return compare(Run(Path("before"), before), Run(Path("after"), after))


def in_words(before, after, **facts):
    """The report on them."""
    return comparison.report(compared(before, after, **facts))


def test_a_report_has_a_row_per_change_in_columns_and_a_figure_is_drawn():
    slow, quick = {"python": 9.0, "cpp": 1e-3, "mpi": 1.0}, {"python": 9.0, "cpp": 2e-3, "mpi": 0.5}
    found = compared(
        {
            "06_compiled.csv": CODE,
            "07_race.csv": race(slow),
            "12_rules.csv": RULES.assign(disagreements=0),
        },
        {
            "06_compiled.csv": CODE.assign(**{"bytes of machine code": 137_500}),
            "07_race.csv": race(quick),
            "12_rules.csv": RULES.assign(disagreements=3),
        },
    )
    rows = [line for line in comparison.report(found).splitlines() if line.startswith("|")][2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in rows]
    assert cells[0] == ["12_rules: Pgx · stalemate", "0", "3", "inf×", "1×", "worse"]
    assert cells[3] == ["06_compiled: sm_90", "550,000", "137,500", "0.25×", "1×", "changed"]
    assert ["07_race: cpp", "1 ms", "2 ms", "2×", "1.1×", "worse"] in cells
    assert ["07_race: mpi", "1 s", "500 ms", "0.5×", "1.1×", "better"] in cells
    assert len(cells) == 4
    assert len({len(line) for line in rows}) == 1  # the columns stand below one another
    figure = comparison.figure(found)
    figure.draw_without_rendering()
    (axes,) = figure.axes
    assert len(axes.texts) == len(axes.get_yticklabels()) == 4
    marks = {bars.get_label(): bars.lines[0].get_xdata().tolist() for bars in axes.containers}
    expected = {"changed": [0.25], "worse": [2], "better": [0.5]}  # from zero there is no ratio
    assert marks == {verdict: pytest.approx(ratios) for verdict, ratios in expected.items()}


def test_the_largest_changes_are_shown_and_the_rest_counted():
    times = {f"racer {number:02}": 1.0 for number in range(comparison.MOST + 5)}
    slower = {racer: 2.0 + number for number, racer in enumerate(times)}
    found = compare(in_memory(race(times)), in_memory(race(slower)))
    report = comparison.report(found)
    assert "| 07_race: racer 24 |" in report
    assert "racer 04" not in report
    assert "and 5 smaller changes" in report
    assert len(comparison.figure(found).axes[0].texts) == comparison.MOST


@pytest.mark.parametrize(
    ("before", "after"), [({"cpp": 1.0}, {"cpp": 1.0}), ({"cpp": 0.0}, {"cpp": 1.0})]
)
def test_where_nothing_changed_or_can_be_judged_a_report_is_written_and_drawn(before, after):
    found = compare(in_memory(race(before)), in_memory(race(after)))
    report = comparison.report(found)
    assert "Nothing changed" in report
    assert ("1 not judged" in report) == (before != after)
    comparison.figure(found).draw_without_rendering()


@pytest.mark.parametrize(("factor", "said"), [(1.5, True), (1 / 1.5, True), (1.05, False)])
def test_a_run_that_is_slower_or_faster_as_a_whole_is_doubted(factor, said):
    times = {"python": 9.0, "cpp": 1.0, "mpi": 2.0}
    after = {racer: seconds * factor for racer, seconds in times.items()}
    report = in_words({"1.csv": race(times)}, {"1.csv": race(after)})
    assert ("as idle for A as for B?" in report) == said


def test_what_only_one_has_and_what_is_not_compared_is_named():
    ladder = pd.DataFrame({"rung": ["cpp"]})
    report = in_words(
        {"07_ladder.csv": ladder, "07_race.csv": race({"cpp": 1.0, "mpi": 1.0})},
        {"07_ladder.csv": ladder, "07_race.csv": race({"cpp": 1.0}), "08_rungs.csv": ladder},
    )
    assert all(table in report for table in ("07_race.csv", "08_rungs.csv", "07_ladder.csv"))


def test_other_machines_and_settings_are_told_once():
    tables, after = ({name: race({"cpp": 1.0}) for name in ("1.csv", "2.csv")} for _ in range(2))
    report = in_words(tables, after, machine="Arm", size="quick")
    assert report.count("These are different machines") == 1
    assert report.count("machine differs: AMD EPYC in A, Arm in B") == 1
    assert report.count("size differs: full in A, quick in B") == 1
    assert "different machines" not in in_words(tables, after, size="quick")
