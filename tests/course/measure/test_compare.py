"""Runs side by side: what is a change, what is noise, and what can't be judged."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rungs.errors import ConfigurationError
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


def verdicts(comparison):
    return dict(zip(comparison.groups["what"], comparison.groups["verdict"], strict=True))


def of(run, file, before, after):
    """The verdicts on two versions of a table."""
    return verdicts(compare(run("a", {file: before}), run("b", {file: after})))


def test_times_are_judged_by_the_time_of_a_ply(run):
    a = run("a", {"07_race.csv": race({"python": 9.0, "cpp": 1.0, "openmp": 0.5})})
    b = run("b", {"07_race.csv": race({"python": 9.3, "cpp": 1.25, "openmp": 0.25})})
    comparison = compare(a, b)
    assert verdicts(comparison) == {"python": "same", "cpp": "worse", "openmp": "better"}
    found = comparison.changes.set_index("what")
    assert list(found.index) == ["openmp", "cpp"]  # the largest change first
    assert found.loc["cpp", "ratio"] == pytest.approx(1.25)
    assert found.loc["cpp", "b"] == pytest.approx(1.25)


def test_more_work_in_more_time_is_no_change(run):
    table = race({"cpp": 1.0})
    more = table.assign(plies=table["plies"] * 3, seconds=table["seconds"] * 3)
    assert of(run, "07_race.csv", table, more) == {"cpp": "same"}


def test_more_per_second_is_better(run):
    table = race({"read": 1.0, "copy": 1.0}).drop(columns="plies")
    table = table.rename(columns={"racer": "stream", "seconds": "per_second"})
    factor = table["stream"].map({"read": 1.3, "copy": 0.7})
    faster = table.assign(per_second=table["per_second"] * factor)
    assert of(run, "08_bandwidth.csv", table, faster) == {"read": "better", "copy": "worse"}


@given(
    factor=st.floats(0.2, 5),
    median=st.floats(1e-9, 1e3),
    spread=st.floats(0, 0.6),
    floor=st.floats(0, 1),
)
def test_a_change_is_larger_than_the_floor_and_than_both_spreads(factor, median, spread, floor):
    repeats = 1 + spread * np.linspace(-1, 1, 9)
    tables = race({"cpp": median}, repeats), race({"cpp": median * factor}, repeats)
    (group,) = compare(*map(_in_memory, tables), floor).groups.itertuples()
    iqr = spread  # of nine repeats evenly from -spread to spread
    noise = 1 + max(floor, 3 * np.sqrt(2) * iqr / 1.349)
    assert group.noise == pytest.approx(noise)
    if max(factor, 1 / factor) > noise * 1.0001:
        assert group.verdict == ("worse" if factor > 1 else "better")
        assert group.low > 1 or group.high < 1
    elif max(factor, 1 / factor) < noise * 0.9999:
        assert group.verdict == "same"


def _in_memory(table):
    table.attrs["provenance"] = {}
    return Run("somewhere", {"07_race.csv": table})


def test_a_wide_spread_hides_what_a_narrow_one_shows(run):
    noisy = np.linspace(0.6, 1.4, 9)
    for repeats, verdict in ((REPEATS, "worse"), (noisy, "same")):
        tables = race({"cpp": 1.0}, repeats), race({"cpp": 1.4}, repeats)
        assert of(run, "07_race.csv", *tables) == {"cpp": verdict}


@pytest.mark.parametrize(
    ("factor", "floor", "verdict"),
    [(1.04, 0.0, "same"), (1.08, 0.0, "worse"), (1.08, 0.1, "same"), (1.12, 0.1, "worse")],
)
def test_a_small_change_is_none_nor_one_within_three_spreads(run, factor, floor, verdict):
    a, b = (
        run(name, {"07_race.csv": race({"cpp": seconds})})
        for name, seconds in (("a", 1.0), ("b", factor))
    )
    assert verdicts(compare(a, b, floor)) == {"cpp": verdict}


@pytest.mark.parametrize("which", [0, 1])
def test_either_runs_spread_counts(run, which):
    repeats = [REPEATS, np.linspace(0.6, 1.4, 9)]
    tables = race({"cpp": 1.0}, repeats[which]), race({"cpp": 1.4}, repeats[1 - which])
    assert of(run, "07_race.csv", *tables) == {"cpp": "same"}


def test_one_wild_repeat_is_no_spread(run):
    wild = [*REPEATS[:-1], 50.0]
    assert of(run, "07_race.csv", race({"cpp": 1.0}, wild), race({"cpp": 1.0})) == {"cpp": "same"}
    tables = race({"cpp": 1.0}, wild), race({"cpp": 1.4}, wild)
    assert of(run, "07_race.csv", *tables) == {"cpp": "worse"}


@pytest.mark.parametrize(
    ("repeats", "verdict"), [(MIN_REPEATS - 1, "unjudged"), (MIN_REPEATS, "worse")]
)
def test_too_few_repeats_are_not_judged(run, repeats, verdict):
    tables = race({"cpp": 1.0}, REPEATS[:repeats]), race({"cpp": 9.0}, REPEATS[:repeats])
    assert of(run, "07_race.csv", *tables) == {"cpp": verdict}


def test_a_time_of_zero_gives_no_ratio(run):
    zero, one = race({"cpp": 0.0}), race({"cpp": 1.0})
    assert of(run, "07_race.csv", zero, one) == {"cpp": "unjudged"}
    assert of(run, "07_race.csv", one, zero) == {"cpp": "unjudged"}


@pytest.mark.parametrize("repeats", [2, 9])
def test_a_run_beside_itself_has_not_changed(run, repeats):
    a = run("a", {"07_race.csv": race({"cpp": 1.0, "python": 0.0}, REPEATS[:repeats])})
    comparison = compare(a, a)
    assert verdicts(comparison) == {"cpp": "same", "python": "same"}
    assert comparison.changes.empty


def test_updates_steps_and_rows_are_repeats_where_files_say_so(run):
    parts = race({"infer": 1.0}).drop(columns="plies").rename(columns={"racer": "part"})
    slower = parts.assign(seconds=parts["seconds"] * 2)
    for file, names in (("00_batch.csv", {"repeat": "update"}), ("02_queue.csv", None)):
        tables = [
            table.rename(columns=names) if names else table.drop(columns="repeat")
            for table in (parts, slower)
        ]
        assert of(run, file, *tables) == {"infer": "worse"}


def test_a_call_is_derived_and_no_key(run):
    table = race({"cpp": 1.0}).eval("call = seconds / 2")
    assert of(run, "13_times.csv", table, table.eval("call = call * 2")) == {"cpp": "same"}


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
    comparison = compare(run("a", {"12_rules.csv": table}), run("b", {"12_rules.csv": after}))
    assert verdicts(comparison) == {
        "rungs · checkmate": "worse",
        "Pgx · checkmate": "better",
        "Pgx · stalemate": "same",
    }
    # From zero is the largest change there is.
    assert list(comparison.changes["what"]) == ["rungs · checkmate", "Pgx · checkmate"]


def test_games_of_runs_of_other_sizes_are_not_compared(tmp_path):
    table = pd.DataFrame({"peer": ["Pgx"], "rule": "stalemate", "disagreements": [1]})
    for size in ("quick", "full"):
        results.save(table, tmp_path / size / "12_rules.csv", {"size": size})
    comparison = compare(*(read(tmp_path / size) for size in ("quick", "full")))
    assert comparison.skipped == {"12_rules.csv": "size differs"}
    assert comparison.groups.empty


@pytest.mark.parametrize(("more", "verdict"), [(0.04, "same"), (0.06, "worse"), (-0.06, "better")])
def test_a_twentieth_of_an_instruction_is_none(run, more, verdict):
    columns = ["boards", "count", "per ply", "source"]
    table = pd.DataFrame([(64, "instructions", 1400.0, "callgrind")], columns=columns)
    after = table.assign(**{"per ply": 1400 + more})
    what = {"boards 64 · instructions · callgrind": verdict}
    assert of(run, "09_counts.csv", table, after) == what


def test_counters_of_a_processor_are_not_exact(run):
    columns = ["boards", "count", "per ply", "source"]
    table = pd.DataFrame([(64, "instructions", 1400.0, "PAPI")], columns=columns)
    after = table.assign(**{"per ply": 1900.0})
    what = {"boards 64 · instructions · PAPI": "unjudged"}
    assert of(run, "09_counts.csv", table, after) == what


def test_instructions_that_moved_and_code_that_grew_are_neither_better_nor_worse(run):
    code = pd.DataFrame({"architecture": ["sm_90"], "bytes of machine code": [550_000]})
    more = code.assign(**{"bytes of machine code": 550_008})
    assert of(run, "06_compiled.csv", code, more) == {"sm_90": "changed"}


def test_scores_are_judged_by_their_intervals(run):
    columns = ["rung", "update", "score", "low", "high"]
    table = pd.DataFrame(
        [("cpp", 20, 0.8, 0.78, 0.82), ("cpp", 40, 0.9, 0.8, 0.95)], columns=columns
    )
    after = table.assign(score=table["score"] - 0.1)
    what = {"cpp · update 20": "worse", "cpp · update 40": "same"}
    assert of(run, "15_evaluations.csv", table, after) == what


def test_what_one_run_has_is_counted(run):
    a = run("a", {"1.csv": race({"cpp": 1.0, "mpi": 1.0}), "2.csv": race({"cpp": 1.0})})
    b = run("b", {"1.csv": race({"cpp": 1.0}), "3_ladder.csv": pd.DataFrame({"x": [1]})})
    comparison = compare(a, b)
    assert verdicts(comparison) == {"cpp": "same"}
    assert comparison.only == {"A": {"1.csv": 1, "2.csv": 1}, "B": {"3_ladder.csv": 0}}


def test_a_table_of_neither_repeats_nor_counts_is_skipped_by_name(run):
    table = pd.DataFrame({"part": ["rules"], "share": [0.5]})
    comparison = compare(run("a", {"01_profile.csv": table}), run("b", {"01_profile.csv": table}))
    assert comparison.groups.empty
    assert comparison.changes.empty
    assert comparison.skipped == {"01_profile.csv": "neither repeats nor counts"}


def test_values_of_other_boards_are_not_compared(run):
    tables = {"03_compilers.csv": race({"cpp": 1.0})}
    comparison = compare(run("a", tables, num_envs=64), run("b", tables, num_envs=512))
    assert comparison.skipped == {"03_compilers.csv": "num_envs differs"}
    assert comparison.groups.empty
    assert comparison.only == {"A": {}, "B": {}}


def test_settings_that_differ_are_listed_but_not_what_always_does(run):
    tables = {"07_race.csv": race({"cpp": 1.0})}
    a = run("a", tables, flags="-O3", joblib_seconds=0.1)
    b = run("b", tables, flags="-O2", joblib_seconds=0.2)
    assert compare(a, b).differing == {"07_race.csv": {"flags": ("-O3", "-O2")}}


def test_a_folder_of_tables_is_a_run(run, tmp_path):
    run("a", {"07_race.csv": race({"cpp": 1.0})})
    inside = read(tmp_path / "a" / "results")
    assert list(inside.tables) == ["07_race.csv"]
    assert inside.facts("size") == ["full"]


@pytest.mark.parametrize(
    "content", [b"", b"a,b\n1,2\n", b"# size: full\n", b"# size: full\na\n1\n1,2,3\n", b"\xff\xfe"]
)
def test_a_file_that_is_no_result_is_named(tmp_path, content):
    (tmp_path / "07_race.csv").write_bytes(content)
    with pytest.raises(ConfigurationError, match=r"07_race\.csv"):
        read(tmp_path)


def test_a_folder_without_results_is_named(tmp_path):
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(ConfigurationError, match=folder.name):
            read(folder)


@pytest.mark.parametrize(
    ("file", "table"),
    [
        ("12_rules.csv", pd.DataFrame({"peer": ["Pgx"], "disagreements": [1]})),
        ("12_rules.csv", pd.DataFrame({"peer": "Pgx", "rule": "x", "disagreements": [1, 2]})),
        ("07_race.csv", race({"cpp": 1.0}).assign(seconds="fast")),
    ],
    ids=["no column", "two rows for one thing", "no number"],
)
def test_a_table_that_lacks_something_is_named(run, file, table):
    a = run("a", {file: table})
    with pytest.raises(ConfigurationError, match=file):
        compare(a, a)


@pytest.mark.parametrize("floor", [-0.1, float("nan"), float("inf")])
def test_a_floor_is_a_number_from_zero_up(run, floor):
    a = run("a", {"07_race.csv": race({"cpp": 1.0})})
    with pytest.raises(ConfigurationError, match="floor"):
        compare(a, a, floor)


def test_runs_with_nothing_in_common_have_nothing_to_compare(run):
    a = run("a", {"01_profile.csv": pd.DataFrame({"share": [0.5]})})
    b = run("b", {"07_race.csv": race({"cpp": 1.0})})
    for comparison in (compare(a, b), compare(b, a)):
        assert comparison.groups.empty
        assert comparison.changes.empty
    assert comparison.only == {"A": {"07_race.csv": 1}, "B": {"01_profile.csv": 0}}


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("02_race.csv", "racer,repeat,seconds,plies\n"),
        ("02_race.csv", "racer,repeat,seconds,plies\na,0,1,many\n"),
        ("02_race.csv", f"racer,repeat,seconds\na,0,{'9' * 400}\n"),
        ("15_evaluations.csv", "rung,update,score,low,high\nx,1,1,low,high\n"),
    ],
)
def test_a_table_without_numbers_is_named(name, rows, tmp_path):
    (tmp_path / name).write_text("# machine: m\n" + rows)
    odd = read(tmp_path)
    with pytest.raises(ConfigurationError, match=name):
        compare(odd, odd)
