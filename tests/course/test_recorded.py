"""Which results are recorded, and which recorded ones are fit to be offered."""

import json
import re

import pandas as pd
import pytest

from rungs._src import provenance
from rungs._src.core.progress import silent
from rungs.errors import ConfigurationError
from rungs.machine import describe
from rungs_course import cli, paths
from rungs_course.machine.naming import SAME, slug
from rungs_course.measure import disturbance, results
from rungs_course.runner import chain, eta, manifest, recorded
from tests.course import notebooks as tiny
from tests.saved import contents, deleting, setting

RECORDED = paths.ROOT / "data" / "recorded"
TOOK = {"seconds": 3.0, "busy": 0.01, "stolen": 0.0, "switches": 40.0}


@pytest.fixture
def course(tmp_path):
    for name in ("01_a", "02_b"):
        tiny.write(tmp_path / "notebooks", name)
    return tmp_path / "notebooks"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A machine's results as they should be."""
    monkeypatch.setattr(provenance, "commit", lambda: "abc1234")
    folder = tmp_path / "data" / "recorded" / slug()
    results.save(pd.DataFrame({"x": [1, 2]}), folder / "01_a.csv", {"size": "full"})
    notebooks = {"01_a": {"status": "done"} | TOOK, "02_b": {"status": "unavailable"} | TOOK}
    write(folder, recorded.with_run(tiny.manifest_of(notebooks), folder))
    return folder


def write(folder, record):
    (folder / recorded.NAME).write_text(json.dumps(record))


def test_what_is_whole_and_of_an_idle_machine_passes(folder, course):
    assert recorded.check(folder, course) == []
    record = recorded.read(folder)
    assert set(SAME) <= record["machine"].keys()
    assert record["runs"][0]["notebooks"]["01_a"]["busy"] == 0.01


def test_a_notebook_that_is_run_again_is_of_the_later_run(folder):
    for name, commit, runs in (
        ("02_b", "def5678", [("abc1234", "01_a"), ("def5678", "02_b")]),
        ("01_a", "fed8765", [("def5678", "02_b"), ("fed8765", "01_a")]),
    ):
        again = tiny.manifest_of({name: {"status": "unavailable"} | TOOK}, commit=commit)
        write(folder, recorded.with_run(again, folder))
        assert [(run["commit"], *run["notebooks"]) for run in recorded.read(folder)["runs"]] == runs


def edit(folder, name, key, value):
    """Changes what a table says of itself, and nothing else."""
    text = (folder / name).read_text()
    text = re.sub(rf"^# {key}: .*$", f"# {key}: {value}", text, count=1, flags=re.MULTILINE)
    (folder / name).write_text(text)


def a_table(name, *, sealed=True, **facts):
    """A table, which may be a new one, whose head says something else in `facts`.

    Where it is `sealed`, the checksums are right: only one thing shall be wrong.
    """

    def spoil(folder, record):
        if not (folder / name).exists():
            results.save(pd.DataFrame({"x": [1]}), folder / name, {})
        for key, value in facts.items():
            edit(folder, name, key, value)
        if sealed:
            record["files"] = recorded.with_run(tiny.manifest_of({}), folder)["files"]

    return spoil


def an_entry(name, **changed):
    return lambda folder, record: record["runs"][0]["notebooks"][name].update(changed)


def unfinished_commit(folder, record):
    a_table("01_a.csv", commit="abc1234-dirty")(folder, record)
    record["runs"][0]["commit"] = "abc1234-dirty"


def two_runs(folder, record):
    record["runs"].insert(0, json.loads(json.dumps(record["runs"][0])))
    del record["runs"][0]["notebooks"]["02_b"]
    record["runs"][0]["notebooks"]["01_a"]["busy"] = 0.5  # which the later one would hide


def check_spoiled(folder, course, *faults):
    record = recorded.read(folder)
    for spoil in faults:
        spoil(folder, record)
    (folder,) = folder.parent.iterdir()  # which may have another name now
    write(folder, record)
    return recorded.check(folder, course)


# What must be named, and how a record gets this fault and no other.
FAULTS = {
    "a notebook that failed": ("01_a: failed", an_entry("01_a", status="failed")),
    "sources in no commit": ("01_a, 02_b: .*abc1234-dirty", unfinished_commit),
    "a changed table": (r"01_a\.csv", a_table("01_a.csv", sealed=False, size="smoke")),
    "a missing table": (r"01_a\.csv", lambda folder, _: (folder / "01_a.csv").unlink()),
    "an unlisted table": (r"01_old\.csv", a_table("01_old.csv", sealed=False)),
    "a table of no notebook": (r"07_old\.csv", a_table("07_old.csv")),
    "a notebook without a table": ("02_b", an_entry("02_b", status="done")),
    "another commit": (r"01_a\.csv: .*abc1234-dirty", a_table("01_a.csv", commit="abc1234-dirty")),
    "another version": (r"0\.0\.1 .02_c\.csv", a_table("02_c.csv", rungs="0.0.1")),
    "another machine": (r"02_c\.csv: .*Other", a_table("02_c.csv", machine="Other")),
    "another folder": (slug(), lambda folder, _: folder.rename(folder.with_name("elsewhere"))),
    "a busy machine": ("01_a: .*50%", an_entry("01_a", busy=0.5)),
    "stolen time": ("02_b: .*25%", an_entry("02_b", stolen=0.25)),
    "not measured": ("02_b", an_entry("02_b", busy=None)),
    "measured as NaN": ("01_a", an_entry("01_a", busy=float("nan"))),
    "a notebook of two runs": ("01_a: .*2", two_runs),
}


@pytest.mark.parametrize(("named", "spoil"), FAULTS.values(), ids=FAULTS)
def test_every_fault_is_named(folder, course, spoil, named):
    with pytest.raises(ConfigurationError, match=named) as refused:
        check_spoiled(folder, course, spoil)
    assert len(str(refused.value).splitlines()) == 2


def test_all_faults_are_named_at_once(folder, course):
    faults = (an_entry("01_a", busy=0.5), an_entry("02_b", stolen=0.25), a_table("07_old.csv"))
    with pytest.raises(ConfigurationError) as refused:
        check_spoiled(folder, course, *faults)
    assert len(str(refused.value).splitlines()) == 4


def test_time_lost_in_waking_cores_is_not_anothers(folder, course):
    check_spoiled(folder, course, an_entry("02_b", stolen=0.25, switches=1000.0))


def test_what_is_missing_is_listed_and_not_refused(folder, course):
    never_run = deleting("runs", 0, "notebooks", "02_b")
    (missing,) = check_spoiled(folder, course, lambda _, record: never_run(record))
    assert "02_b" in missing
    assert recorded.of_runs(folder) == {"01_a.csv"}


@pytest.mark.parametrize(
    "machine", sorted(path.name for path in RECORDED.iterdir() if path.is_dir())
)
def test_nothing_that_is_recorded_here_is_refused(machine):
    recorded.check(RECORDED / machine)


def test_a_record_of_another_form_is_refused(folder, course):
    change = setting("0.01", "runs", 0, "notebooks", "01_a", "busy")
    with pytest.raises(ConfigurationError, match=r"record\.json.*busy"):
        check_spoiled(folder, course, lambda _, record: change(record))


def test_the_command_checks_a_folder_and_keeps_nothing(folder, capsys):
    before = contents(folder)
    assert cli.main(["record", "--check", str(folder)]) == 1
    assert "03_cpp" in capsys.readouterr().out
    assert cli.main(["record", str(folder)]) == 2
    assert str(folder) in capsys.readouterr().err
    assert contents(folder) == before
    (folder / "01_a.csv").unlink()
    assert cli.main(["record", "--check", str(folder)]) == 2
    assert "01_a.csv" in capsys.readouterr().err


def test_a_run_notes_whether_others_compute(tmp_path, course, without_kernels, monkeypatch):
    monkeypatch.setattr(disturbance, "busy_for", lambda seconds: 0.25)
    monkeypatch.setattr(disturbance, "stolen_since", lambda times: disturbance.Stolen(0.125, 50.0))
    chain.run(size="smoke", out=tmp_path / "run", only=["01"], notebooks=course, say=silent)
    entry = manifest.read(tmp_path / "run")["notebooks"]["01_a"]
    assert (entry["busy"], entry["stolen"], entry["switches"]) == (0.25, 0.125, 50)


def write_manifest(out, size="full", **changes):
    """Writes the manifest of a run of a notebook, or of others that `changes` name."""
    run = tiny.manifest_of({"01_a": {"status": "done", "seconds": 3.04}}, size)
    manifest.write(run | changes, out)


@pytest.fixture
def out(tmp_path):
    out = tmp_path / "run"
    results.save(pd.DataFrame({"x": [1]}), out / "results" / "01_x.csv", {"size": "full"})
    write_manifest(out)
    return out


def test_of_a_run_that_is_not_full_only_its_times_are_recorded(out, tmp_path):
    write_manifest(out, "quick")
    path = recorded.record(out, tmp_path)
    assert not recorded.here(tmp_path).exists()
    (row,) = results.load(path).to_dict("records")
    assert (row["size"], row["notebook"], row["seconds"]) == ("quick", "01_a", pytest.approx(3))
    assert row["date"] == "2026-01-01T00:00:00+00:00"


def test_a_full_run_takes_the_place_of_what_its_notebooks_left(out, tmp_path):
    folder = recorded.here(tmp_path)
    for name in ("01_old.csv", "02_y.csv"):
        results.save(pd.DataFrame({"y": [2]}), folder / name, {"size": "full"})
    for size in ("quick", "full", "full"):
        write_manifest(out, size)
        recorded.record(out, tmp_path)
    assert {path.name for path in folder.glob("*.csv")} == {"01_x.csv", "02_y.csv"}
    assert results.load(folder / "01_x.csv")["x"].tolist() == [1]
    expected = eta.expect("full", ["01_a"], tmp_path / "elsewhere", tmp_path)
    assert expected == {"01_a": pytest.approx(3)}


def test_of_a_run_that_was_stopped_what_is_finished_is_recorded(out, tmp_path):
    folder = recorded.here(tmp_path)
    results.save(pd.DataFrame({"y": [2]}), folder / "02_y.csv", {"size": "full"})
    results.save(pd.DataFrame({"y": [3]}), out / "results" / "02_y.csv", {"size": "full"})
    to_do = {"02_b": {"status": "to do"}}
    write_manifest(out, notebooks=manifest.read(out)["notebooks"] | to_do)
    recorded.record(out, tmp_path)
    assert results.load(folder / "02_y.csv")["y"].tolist() == [2]
    assert [list(run["notebooks"]) for run in recorded.read(folder)["runs"]] == [["01_a"]]
    before = contents(folder)
    write_manifest(out, notebooks=to_do)
    with pytest.raises(ConfigurationError, match=str(out)):
        recorded.record(out, tmp_path)
    assert contents(folder) == before


@pytest.mark.parametrize("other", ["run", "table", "record", "malformed record"])
def test_nothing_is_recorded_where_one_is_of_another_machine_or_malformed(out, tmp_path, other):
    folder, elsewhere = recorded.here(tmp_path), describe() | {"microarchitecture": "Zen 99"}
    recorded.record(out, tmp_path)
    if other == "run":
        write_manifest(out, machine=elsewhere)
    elif other == "table":
        edit(out / "results", "01_x.csv", "microarchitecture", "Zen 99")
    elif other == "record":
        write(folder, recorded.read(folder) | {"machine": elsewhere})
    else:
        (folder / recorded.NAME).write_text("{")
    (folder / "01_x.csv").write_text("kept")
    before = contents(folder)
    named = r"record\.json" if other == "malformed record" else "Zen 99"
    with pytest.raises(ConfigurationError, match=named):
        recorded.record(out, tmp_path)
    assert contents(folder) == before
