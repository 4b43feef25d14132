"""Which results are recorded, and which recorded ones are fit to be offered."""

import json
import os

import pandas as pd
import pytest

from rungs._src import provenance
from rungs._src.machine.describe import SAME, describe, slug, slug_of
from rungs.errors import ConfigurationError
from rungs_course import cli, paths
from rungs_course.measure import results
from rungs_course.runner import chain, manifest, pace, recorded
from tests.course import notebooks as tiny

RECORDED = paths.ROOT / "data" / "recorded"


@pytest.fixture
def course(tmp_path):
    """Two notebooks, of which the second finds nothing to do on most machines."""
    tiny.write(tmp_path / "notebooks", "01_a")
    tiny.write(tmp_path / "notebooks", "02_b")
    return tmp_path / "notebooks"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A machine's results as they should be."""
    monkeypatch.setattr(provenance, "commit", lambda: "abc1234")
    folder = tmp_path / "data" / "recorded" / slug()
    results.save(pd.DataFrame({"x": [1, 2]}), folder / "01_a.csv", {"size": "full"})
    took = {"seconds": 3.0, "busy": 0.01, "stolen": 0.0, "switches": 40.0}
    notebooks = {"01_a": {"status": "done"} | took, "02_b": {"status": "unavailable"} | took}
    write(folder, recorded.with_run(run_of(notebooks), folder))
    return folder


def run_of(notebooks, commit="abc1234"):
    """What the manifest of a run says."""
    return {
        "machine": describe(),
        "versions": {"numpy": "2.4.6"},
        "commit": commit,
        "started": "2026-01-01T00:00:00+00:00",
        "notebooks": notebooks,
    }


def write(folder, record):
    (folder / recorded.NAME).write_text(json.dumps(record))


def test_what_is_whole_and_of_an_idle_machine_passes(folder, course):
    assert recorded.check(folder, course) == []
    record = recorded.read(folder)
    assert set(record) == {"machine", "runs", "files"}
    assert set(SAME) <= record["machine"].keys()
    assert set(record["runs"][0]) == {"commit", "started", "versions", "notebooks"}
    assert record["runs"][0]["notebooks"]["01_a"]["busy"] == 0.01
    assert len(record["files"]["01_a.csv"]) == 64


def test_a_notebook_that_is_run_again_is_of_the_later_run(folder, course):
    took = {"seconds": 4.0, "busy": 0.0, "stolen": 0.0, "switches": 40.0}
    again = run_of({"02_b": {"status": "unavailable"} | took}, commit="def5678")
    write(folder, recorded.with_run(again, folder))
    first, second = recorded.read(folder)["runs"]
    assert (first["commit"], list(first["notebooks"])) == ("abc1234", ["01_a"])
    assert (second["commit"], list(second["notebooks"])) == ("def5678", ["02_b"])
    recorded.check(folder, course)
    write(folder, recorded.with_run(run_of({"01_a": {"status": "done"} | took}), folder))
    assert [list(run["notebooks"]) for run in recorded.read(folder)["runs"]] == [["02_b"], ["01_a"]]


def edit(folder, name, key, value):
    """Changes what a table says of itself, and nothing else; None: leaves it out."""
    lines = (folder / name).read_text().splitlines(keepends=True)
    fact = [] if value is None else [f"# {key}: {value}\n"]
    at = next(i for i, line in enumerate(lines) if line.startswith(f"# {key}: "))
    (folder / name).write_text("".join([*lines[:at], *fact, *lines[at + 1 :]]))


def seal(folder, record):
    """Makes the checksums right again: only one thing shall be wrong."""
    record["files"] = recorded.with_run(run_of({}), folder)["files"]


def a_fact(key, value):
    def spoil(folder, record):
        edit(folder, "01_a.csv", key, value)
        seal(folder, record)

    return spoil


def an_entry(name, **changed):
    return lambda folder, record: record["runs"][0]["notebooks"][name].update(changed)


def another_table(name, **facts):
    """Another table, whose head says something else in `facts`."""

    def spoil(folder, record):
        results.save(pd.DataFrame({"x": [1]}), folder / name, {})
        for key, value in facts.items():
            edit(folder, name, key, value)
        seal(folder, record)

    return spoil


def processor(folder, record):
    a_fact("microarchitecture", "Zen 8")(folder, record)
    record["machine"]["microarchitecture"] = "Zen 9"
    folder.rename(folder.with_name(slug_of(record["machine"])))


def unfinished_commit(folder, record):
    a_fact("commit", "abc1234-dirty")(folder, record)
    record["runs"][0]["commit"] = "abc1234-dirty"


def a_changed_table(folder, record):
    (folder / "01_a.csv").write_text((folder / "01_a.csv").read_text() + "3\n")


def an_unknown_table(folder, record):
    results.save(pd.DataFrame({"x": [1]}), folder / "01_old.csv", {})


def two_runs(folder, record):
    record["runs"].insert(0, json.loads(json.dumps(record["runs"][0])))
    del record["runs"][0]["notebooks"]["02_b"]
    record["runs"][0]["notebooks"]["01_a"]["busy"] = 0.5  # which the later one would hide


IN_NO_COMMIT = "its sources are in no commit"
ELSEWHERE = "of another machine .*"
FAULTS = {
    "01_a: failed": an_entry("01_a", status="failed"),
    f"01_a, 02_b: commit abc1234-dirty: {IN_NO_COMMIT}": unfinished_commit,
    "01_a.csv: changed since": a_changed_table,
    "01_a.csv: missing": lambda folder, record: (folder / "01_a.csv").unlink(),
    "01_old.csv: of no run": an_unknown_table,
    "07_old.csv: of no run": another_table("07_old.csv"),
    "02_b: no table": an_entry("02_b", status="done"),
    f"01_a.csv: {ELSEWHERE} microarchitecture .* not Zen 9": processor,
    f"01_a.csv: {ELSEWHERE} cpu_stepping .* not 4096": lambda folder, record: record[
        "machine"
    ].update(cpu_stepping=4096),
    f"01_a.csv: {ELSEWHERE} cpu_model None": a_fact("cpu_model", None),
    "01_a.csv: of commit abc1234-dirty, not of its run's": a_fact("commit", "abc1234-dirty"),
    "several versions of Rungs: 0.0.1 .02_c.csv.; ": another_table("02_c.csv", rungs="0.0.1"),
    f"02_c.csv: {ELSEWHERE} machine Other": another_table("02_c.csv", machine="Other"),
    "01_a: others used 50% of the cores": an_entry("01_a", busy=0.5),
    "02_b: the hypervisor took 25% of the cores": an_entry("02_b", stolen=0.25),
    "02_b: not measured": an_entry("02_b", busy=None),
    "01_a: not measured": an_entry("01_a", busy=float("nan")),
    "01_a: of 2 runs": two_runs,
}


@pytest.mark.parametrize(("fault", "spoil"), FAULTS.items())
def test_every_fault_is_named(folder, course, spoil, fault):
    record = recorded.read(folder)
    spoil(folder, record)
    (folder,) = folder.parent.iterdir()
    write(folder, record)
    with pytest.raises(ConfigurationError, match=fault) as refused:
        recorded.check(folder, course)
    assert len(str(refused.value).splitlines()) == 2


def test_all_faults_are_named_at_once(folder, course):
    record = recorded.read(folder)
    an_entry("01_a", busy=0.5)(folder, record)
    an_entry("02_b", stolen=0.25)(folder, record)
    an_unknown_table(folder, record)
    write(folder, record)
    with pytest.raises(ConfigurationError) as refused:
        recorded.check(folder, course)
    assert len(str(refused.value).splitlines()) == 4


def test_a_folder_of_another_name_is_refused(folder, course):
    other = folder.rename(folder.with_name("amd-epyc-2-cores"))
    with pytest.raises(ConfigurationError, match=f"is called {slug()}"):
        recorded.check(other, course)


def test_what_is_missing_is_listed_and_not_refused(folder, course):
    record = recorded.read(folder)
    del record["runs"][0]["notebooks"]["02_b"]
    write(folder, record)
    assert recorded.check(folder, course) == ["02_b: not run"]
    assert recorded.of_runs(folder) == {"01_a.csv"}


@pytest.mark.parametrize(
    "machine", sorted(path.name for path in RECORDED.iterdir() if path.is_dir())
)
def test_nothing_that_is_recorded_here_is_refused(machine):
    recorded.check(RECORDED / machine)


def test_a_table_that_is_binary_is_named(folder, course):
    record = recorded.read(folder)
    (folder / "01_a.csv").write_bytes(b"\x00\xff\xfe")
    seal(folder, record)
    write(folder, record)
    with pytest.raises(ConfigurationError, match=r"01_a\.csv"):
        recorded.check(folder, course)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"machine": {}}'])
def test_a_malformed_record_is_refused(folder, course, text):
    (folder / recorded.NAME).write_text(text)
    with pytest.raises(ConfigurationError, match=r"record\.json"):
        recorded.check(folder, course)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda record: record["runs"][0]["notebooks"]["01_a"].update(busy="0.01"), "busy"),
        (lambda record: record["machine"].pop("cpu_family"), "cpu_family"),
        (lambda record: record["machine"].pop("cpu_model"), "cpu_model"),
    ],
)
def test_a_record_of_another_form_is_refused(change, named, folder, course):
    record = recorded.read(folder)
    change(record)
    write(folder, record)
    with pytest.raises(ConfigurationError, match=rf"record\.json.*{named}"):
        recorded.check(folder, course)


def test_the_command_checks_a_folder_and_keeps_nothing(folder, capsys):
    assert cli.main(["record", "--check", str(folder)]) == 1
    assert "03_cpp: not run" in capsys.readouterr().out
    (folder / "01_a.csv").unlink()
    assert cli.main(["record", "--check", str(folder)]) == 2
    assert "01_a.csv: missing" in capsys.readouterr().err
    assert cli.main(["record", str(folder)]) == 2
    assert "no run" in capsys.readouterr().err


def test_a_run_looks_whether_others_compute(tmp_path, course):
    how = {"only": ["01"], "notebooks": course, "say": lambda line: None}
    chain.run(size="smoke", out=tmp_path / "run", **how)
    entry = manifest.read(tmp_path / "run")["notebooks"]["01_a"]
    assert 0 <= entry["busy"] <= 1
    assert 0 <= entry["stolen"] <= 1
    assert entry["switches"] > 0


def test_time_lost_in_waking_cores_is_not_anothers(folder, course):
    record = recorded.read(folder)
    an_entry("02_b", stolen=0.25, switches=1000.0)(folder, record)
    write(folder, record)
    recorded.check(folder, course)


@pytest.mark.parametrize("read", [recorded.read, manifest.read], ids=["record", "manifest"])
def test_a_pipe_is_refused_and_not_waited_for(read, tmp_path):
    for name in (recorded.NAME, manifest.NAME):
        os.mkfifo(tmp_path / name)
    with pytest.raises(ConfigurationError, match="not a regular file"):
        read(tmp_path)


def test_of_full_runs_results_are_recorded_and_of_all_how_long_they_took(tmp_path, monkeypatch):
    for module in (recorded, results):
        monkeypatch.setattr(module, "slug", lambda: "somewhere")
    save = (
        "from pathlib import Path\nimport pandas as pd\nfrom rungs_course.measure import results\n"
    )
    save += "results.save(pd.DataFrame({'x': [1]}), Path(out) / 'results/01_x.csv', {'size': size})"
    tiny.write(tmp_path / "notebooks", "01_a", save)
    out, how = tmp_path / "run", {"notebooks": tmp_path / "notebooks", "say": lambda line: None}
    with pytest.raises(ConfigurationError, match="no run"):
        recorded.record(out, tmp_path)

    chain.run(size="full", out=out, **how)
    ran = manifest.read(out)
    manifest.write(ran | {"settings": ran["settings"] | {"size": "quick"}}, out)
    seconds = recorded.record(out, tmp_path)
    assert seconds == tmp_path / "data/recorded/somewhere/run_seconds.csv"
    assert list(seconds.parent.iterdir()) == [seconds]
    assert not list(tmp_path.glob("README.md"))

    manifest.write(ran, out)
    folder = recorded.record(out, tmp_path)
    assert results.load(folder / "01_x.csv")["x"].tolist() == [1]
    took = results.load(seconds)
    assert took[["size", "notebook"]].to_numpy().tolist() == [["full", "01_a"], ["quick", "01_a"]]
    assert took["seconds"][0] == round(ran["notebooks"]["01_a"]["seconds"], 1)
    assert took["date"][0] == ran["started"]

    # Recorded again, it takes the place of what was there, but not of another notebook's results;
    # and a new run elsewhere expects it.
    for name in ("01_old.csv", "02_y.csv"):
        results.save(pd.DataFrame({"y": [2]}), folder / name, {"size": "full"})
    recorded.record(out, tmp_path)
    assert sorted(file.name for file in folder.glob("*_*.csv")) == [
        "01_x.csv",
        "02_y.csv",
        "run_seconds.csv",
    ]
    assert len(results.load(seconds)) == 2
    expected = pace.expect("full", ["01_a"], tmp_path / "elsewhere", tmp_path)
    assert expected == {"01_a": took["seconds"][0]}

    # Of a run that was stopped, what is finished; and of one that finished nothing, nothing.
    results.save(pd.DataFrame({"y": [3]}), out / "results" / "02_y.csv", {"size": "full"})
    stopped = ran["notebooks"] | {"02_b": {"status": "to do"}}
    manifest.write(ran | {"notebooks": stopped}, out)
    recorded.record(out, tmp_path)
    assert results.load(folder / "01_x.csv")["x"].tolist() == [1]
    assert results.load(folder / "02_y.csv")["y"].tolist() == [2]
    assert [list(run["notebooks"]) for run in recorded.read(folder)["runs"]] == [["01_a"]]
    manifest.write(ran | {"notebooks": {"02_b": {"status": "to do"}}}, out)
    with pytest.raises(ConfigurationError, match=r"no notebook .* is finished"):
        recorded.record(out, tmp_path)

    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    elsewhere = ran["machine"] | {"microarchitecture": "Zen 9"}
    manifest.write(ran | {"machine": elsewhere}, out)
    with pytest.raises(ConfigurationError, match=r"another machine.*Zen 9"):
        recorded.record(out, tmp_path)
    manifest.write(ran, out)
    text = (out / "results" / "01_x.csv").read_text()
    name = ran["machine"]["microarchitecture"]
    strange = text.replace(f"# microarchitecture: {name}", "# microarchitecture: Zen 9")
    (out / "results" / "01_x.csv").write_text(strange)
    with pytest.raises(ConfigurationError, match=r"01_x\.csv is of another machine.*Zen 9"):
        recorded.record(out, tmp_path)
    (out / "results" / "01_x.csv").write_text(text)
    changed = json.loads((folder / "record.json").read_text())
    changed["machine"]["microarchitecture"] = "Zen 9"
    (folder / "record.json").write_text(json.dumps(changed))
    with pytest.raises(ConfigurationError, match=r"the record in .* another machine.*Zen 9"):
        recorded.record(out, tmp_path)
    (folder / "record.json").write_bytes(before["record.json"])
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before

    (folder / "record.json").write_text("{")
    (folder / "01_x.csv").write_text("kept")
    with pytest.raises(ConfigurationError, match=r"record\.json"):
        recorded.record(out, tmp_path)
    assert (folder / "01_x.csv").read_text() == "kept"
