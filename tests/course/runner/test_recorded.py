"""Which recorded results are fit to be offered, and how machines stand side by side."""

import json
import os

import pandas as pd
import pytest

from rungs._src import provenance
from rungs._src.machine.describe import SAME, describe, slug, slug_of
from rungs.errors import ConfigurationError
from rungs_course import cli, pages, paths
from rungs_course.measure import results
from rungs_course.runner import chain, manifest, recorded
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
    took = {"seconds": 3.0, "busy": 0.01, "stolen": 0.0}
    notebooks = {"01_a": {"status": "done"} | took, "02_b": {"status": "unavailable"} | took}
    write(folder, recorded.describe(run_of(notebooks), folder))
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
    assert set(record) == {"machine", "runs", "unverified", "files"}
    assert set(SAME) <= record["machine"].keys()
    assert set(record["runs"][0]) == {"commit", "started", "versions", "notebooks"}
    assert record["runs"][0]["notebooks"]["01_a"]["busy"] == 0.01
    assert len(record["files"]["01_a.csv"]) == 64


def test_a_notebook_that_is_run_again_is_of_the_later_run(folder, course):
    took = {"seconds": 4.0, "busy": 0.0, "stolen": 0.0}
    again = run_of({"02_b": {"status": "unavailable"} | took}, commit="def5678")
    write(folder, recorded.describe(again, folder))
    first, second = recorded.read(folder)["runs"]
    assert (first["commit"], list(first["notebooks"])) == ("abc1234", ["01_a"])
    assert (second["commit"], list(second["notebooks"])) == ("def5678", ["02_b"])
    recorded.check(folder, course)
    write(folder, recorded.describe(run_of({"01_a": {"status": "done"} | took}), folder))
    assert [list(run["notebooks"]) for run in recorded.read(folder)["runs"]] == [["02_b"], ["01_a"]]


def spoil_status(folder, record):
    record["runs"][0]["notebooks"]["01_a"]["status"] = "failed"


def spoil_table(folder, record):
    (folder / "01_a.csv").write_text((folder / "01_a.csv").read_text() + "3\n")


def spoil_missing(folder, record):
    (folder / "01_a.csv").unlink()


def spoil_unknown(folder, record):
    results.save(pd.DataFrame({"x": [1]}), folder / "01_old.csv", {})


def spoil_of_none(folder, record):
    results.save(pd.DataFrame({"x": [1]}), folder / "07_old.csv", {"size": "full"})
    record["files"] = recorded.describe(run_of({}), folder)["files"]


def spoil_no_table(folder, record):
    record["runs"][0]["notebooks"]["02_b"]["status"] = "done"


def edit(folder, name, key, value):
    """Changes what a table says of itself, and nothing else; None: leaves it out."""
    lines = (folder / name).read_text().splitlines(keepends=True)
    told = [] if value is None else [f"# {key}: {value}\n"]
    at = next(i for i, line in enumerate(lines) if line.startswith(f"# {key}: "))
    (folder / name).write_text("".join([*lines[:at], *told, *lines[at + 1 :]]))


def seal(folder, record):
    """Makes the checksums right again: only one thing shall be wrong."""
    record["files"] = recorded.describe(run_of({}), folder)["files"]


def spoil_processor(folder, record):
    edit(folder, "01_a.csv", "microarchitecture", "Zen 8")
    seal(folder, record)
    record["machine"]["microarchitecture"] = "Zen 9"
    folder.rename(folder.with_name(slug_of(record["machine"])))


def spoil_commit(folder, record):
    edit(folder, "01_a.csv", "commit", "abc1234-dirty")
    seal(folder, record)
    record["runs"][0]["commit"] = "abc1234-dirty"


def spoil_stepping(folder, record):
    record["machine"]["cpu_stepping"] = 4096


def spoil_unnamed(folder, record):
    edit(folder, "01_a.csv", "cpu_model", None)
    seal(folder, record)


def spoil_dirty(folder, record):
    edit(folder, "01_a.csv", "commit", "abc1234-dirty")
    seal(folder, record)


def spoil_versions(folder, record):
    results.save(pd.DataFrame({"x": [1]}), folder / "03_c.csv", {})
    edit(folder, "03_c.csv", "rungs", "0.0.1")
    record["unverified"]["03_c.csv"] = "of no run"
    seal(folder, record)


def spoil_dirty_of_no_run(folder, record):
    results.save(pd.DataFrame({"x": [1]}), folder / "03_c.csv", {})
    edit(folder, "03_c.csv", "commit", "abc1234-dirty")
    record["unverified"]["03_c.csv"] = "of no run"
    seal(folder, record)


def spoil_unverified_elsewhere(folder, record):
    results.save(pd.DataFrame({"x": [1]}), folder / "03_c.csv", {})
    edit(folder, "03_c.csv", "cpu_model", None)
    edit(folder, "03_c.csv", "machine", "Other")
    record["unverified"]["03_c.csv"] = "of no run"
    seal(folder, record)


def spoil_unverified_missing(folder, record):
    record["unverified"]["03_c.csv"] = "of no run"


def spoil_busy(folder, record):
    record["runs"][0]["notebooks"]["01_a"]["busy"] = 0.5


def spoil_stolen(folder, record):
    record["runs"][0]["notebooks"]["02_b"]["stolen"] = 0.25


def spoil_busy_is_no_number(folder, record):
    record["runs"][0]["notebooks"]["01_a"]["busy"] = float("nan")


def spoil_two_runs(folder, record):
    record["runs"].insert(0, json.loads(json.dumps(record["runs"][0])))
    del record["runs"][0]["notebooks"]["02_b"]
    record["runs"][0]["notebooks"]["01_a"]["busy"] = 0.5  # which the later one would hide


def spoil_nobody_looked(folder, record):
    record["runs"][0]["notebooks"]["02_b"]["busy"] = None


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (spoil_status, "01_a: failed"),
        (spoil_commit, "01_a, 02_b: commit abc1234-dirty: its sources are in no commit"),
        (spoil_table, "01_a.csv: changed since"),
        (spoil_missing, "01_a.csv: missing"),
        (spoil_unknown, "01_old.csv: of no run"),
        (spoil_of_none, "07_old.csv: of no run"),
        (spoil_no_table, "02_b: no table"),
        (spoil_processor, "01_a.csv: of another machine .* microarchitecture .* not Zen 9"),
        (spoil_stepping, "01_a.csv: of another machine .* cpu_stepping .* not 4096"),
        (spoil_unnamed, "01_a.csv: of another machine .* cpu_model None"),
        (spoil_dirty, "01_a.csv: of commit abc1234-dirty, not of its run's, abc1234"),
        (spoil_versions, "several versions of Rungs: 0.0.1 .03_c.csv.; "),
        (spoil_dirty_of_no_run, "03_c.csv: commit abc1234-dirty: its sources are in no commit"),
        (spoil_unverified_elsewhere, "03_c.csv: of another machine .* machine Other"),
        (spoil_unverified_missing, "03_c.csv: missing"),
        (spoil_busy, "01_a: others used 50% of the cores when it began"),
        (spoil_stolen, "02_b: the hypervisor took 25% of the cores"),
        (spoil_nobody_looked, "02_b: nobody looked"),
        (spoil_busy_is_no_number, "01_a: nobody looked"),
        (spoil_two_runs, "01_a: of 2 runs"),
    ],
)
def test_every_fault_is_named(folder, course, spoil, says):
    record = recorded.read(folder)
    spoil(folder, record)
    (folder,) = folder.parent.iterdir()
    write(folder, record)
    with pytest.raises(ConfigurationError, match=says) as refused:
        recorded.check(folder, course)
    assert len(str(refused.value).splitlines()) == 2


def test_all_faults_are_named_at_once(folder, course):
    record = recorded.read(folder)
    for spoil in (spoil_busy, spoil_stolen, spoil_unknown):
        spoil(folder, record)
    write(folder, record)
    with pytest.raises(ConfigurationError) as refused:
        recorded.check(folder, course)
    assert len(str(refused.value).splitlines()) == 4


def test_a_folder_of_another_name_is_refused(folder, course):
    other = folder.rename(folder.with_name("amd-epyc-2-cores"))
    with pytest.raises(ConfigurationError, match=f"is called {slug()}"):
        recorded.check(other, course)


def test_what_is_missing_or_not_verified_is_said_and_not_refused(folder, course):
    record = recorded.read(folder)
    del record["runs"][0]["notebooks"]["02_b"]
    results.save(pd.DataFrame({"x": [1]}), folder / "03_c.csv", {})
    for name in ("cpu_model", "microarchitecture"):
        edit(folder, "03_c.csv", name, None)
    record["unverified"]["03_c.csv"] = "names no processor"
    seal(folder, record)
    write(folder, record)
    assert recorded.check(folder, course) == [
        "02_b: not run",
        "03_c.csv: not verified: names no processor",
    ]
    assert recorded.of_runs(folder) == {"01_a.csv"}
    # Run again, it is not an exception any more.
    took = {"seconds": 4.0, "busy": 0.0, "stolen": 0.0}
    again = recorded.describe(run_of({"03_c": {"status": "done"} | took}), folder)
    assert again["unverified"] == {}


@pytest.mark.parametrize("machine", sorted(path.name for path in RECORDED.iterdir()))
def test_nothing_that_is_recorded_here_is_refused(machine):
    recorded.check(RECORDED / machine)


def test_a_table_that_is_binary_is_named(folder, course):
    record = recorded.read(folder)
    (folder / "01_a.csv").write_bytes(b"\x00\xff\xfe")
    seal(folder, record)
    write(folder, record)
    with pytest.raises(ConfigurationError, match=r"01_a\.csv"):
        recorded.check(folder, course)


def test_a_text_for_a_share_is_refused(folder, course):
    record = recorded.read(folder)
    record["runs"][0]["notebooks"]["01_a"]["busy"] = "0.01"
    write(folder, record)
    with pytest.raises(ConfigurationError, match=r"record\.json.*busy"):
        recorded.check(folder, course)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"machine": {}}'])
def test_a_malformed_record_is_refused(folder, course, text):
    (folder / recorded.NAME).write_text(text)
    with pytest.raises(ConfigurationError, match=r"record\.json"):
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
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    entry = manifest["notebooks"]["01_a"]
    assert 0 <= entry["busy"] <= 1
    assert 0 <= entry["stolen"] <= 1


def ladder(folder, rates, **facts):
    frame = pd.DataFrame({"rung": list(rates), "plies_per_second": list(rates.values())})
    results.save(frame, folder / "07_ladder.csv", {"size": "full"})
    text = (folder / "07_ladder.csv").read_text()
    for name, value in facts.items():
        before = results.load(folder / "07_ladder.csv").attrs["provenance"][name]
        text = text.replace(f"# {name}: {before}\n", f"# {name}: {value}\n")
    (folder / "07_ladder.csv").write_text(text)


def test_machines_stand_side_by_side_and_the_readers_first(tmp_path):
    at = tmp_path / "data" / "recorded"
    ladder(at / "small", {"python": 5e3, "cpp": 5e6}, machine="Small", cores=2, gpu=None)
    ladder(at / "large", {"cpp": 2e7}, machine="Large", cores=64, gpu=None)
    gains = pd.DataFrame({"peer": ["Slow", "Slow"], "gain": [20.0, 10.0]})
    results.save(gains, at / "large" / "12_gains.csv", {})
    alone = pages.side_by_side(tmp_path)
    kind = f", {name}" if (name := describe()["microarchitecture"]) != "unknown" else ""
    assert f"| machine | 64 cores of Large{kind} | 2 cores of Small{kind} |" in alone
    assert "| `cpp`, plies/s | 20 M/s | 5 M/s |" in alone
    assert "| `python`, plies/s |  | 5 k/s |" in alone
    assert "| times as fast as Slow | 10× |  |" in alone
    ladder(tmp_path / "run" / "results", {"cpp": 1e7}, machine="Mine", cores=4, gpu=None)
    beside = pages.side_by_side(tmp_path, tmp_path / "run")
    assert "yours over `small`, of those recorded the nearest number of cores" in beside
    assert "| `cpp`, plies/s | 10 M/s | 20 M/s | 5 M/s | 2× |" in beside
    own = slug_of(describe() | {"cores": 4})
    ladder(at / own, {"cpp": 2e7}, machine="Mine", cores=4, gpu=None)
    beside = pages.side_by_side(tmp_path, tmp_path / "run")
    assert f"yours over `{own}`, of those recorded the same machine" in beside
    page = pages.filled("a\n<!-- machines -->\nold\n<!-- /machines -->\nb\n", tmp_path)
    assert page.startswith("a\n<!-- machines -->\n| ")
    assert page.endswith("|\n<!-- /machines -->\nb\n")
    assert "old" not in page


def test_the_page_of_machines_shows_all_that_are_recorded():
    page = (paths.ROOT / "docs" / "pages.md").read_text()
    assert pages.filled(page, paths.ROOT) == page


@pytest.mark.parametrize("fact", ["cpu_family", "cpu_model"])
def test_a_record_that_lacks_a_fact_of_its_processor_is_refused(fact, folder, course):
    record = recorded.read(folder)
    del record["machine"][fact]
    write(folder, record)
    with pytest.raises(ConfigurationError, match=fact):
        recorded.check(folder, course)


@pytest.mark.parametrize("read", [recorded.read, manifest.read], ids=["record", "manifest"])
def test_a_pipe_is_refused_and_not_waited_for(read, tmp_path):
    for name in (recorded.NAME, manifest.NAME):
        os.mkfifo(tmp_path / name)
    with pytest.raises(ConfigurationError, match="not a regular file"):
        read(tmp_path)
