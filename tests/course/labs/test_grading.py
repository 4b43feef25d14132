"""Grading survives any file of a student, and keeps every verdict."""

import csv
import json
import os

import pytest

from rungs.errors import ConfigurationError, StorageError, UnavailableError
from rungs_course import cli
from rungs_course.labs import grading
from rungs_course.labs.lab import find, labs
from rungs_course.labs.sandbox import Sandbox, Trusted
from rungs_course.labs.verdict import Verdict
from tests.saved import full_disk, rows_of

LAB = "01"
GOOD = json.dumps({LAB: {"right": True, "tries": 1, "code": "good"}})


SANDBOX_PROBLEM = Sandbox.problem


@pytest.fixture(autouse=True)
def judged(monkeypatch):
    """The calls of a judge that runs nothing: the code is its verdict."""
    judged = []

    def assess(name, code, launcher):
        judged.append((name, code, launcher))
        if code == "broken":
            raise UnavailableError("no compiler is here")
        if code == "stop":
            raise KeyboardInterrupt
        costs = {"yours": [1.0] * 11, "solution": [1.0] * 11, "baseline": [4.0] * 11}
        lab = find(name)
        return Verdict(lab, costs=costs) if code == "good" else Verdict(lab, problem=code)

    monkeypatch.setattr(grading, "assess", assess)
    monkeypatch.setattr(Sandbox, "problem", lambda self: None)
    return judged


@pytest.fixture
def folder(tmp_path):
    """A folder in which one student handed in a right answer to one lab."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "zoe.json").write_text(GOOD)
    return folder


def hand_in(folder, name, code, lab=LAB, **fields):
    (folder / f"{name}.json").write_text(json.dumps({lab: {"code": code} | fields}))


def graded(folder, out, *options):
    """Returns the exit status of `grade`, and its table's rows by student and lab."""
    status = cli.main(["grade", str(folder), "--out", str(out), *options])
    return status, {(row["student"], row["lab"]): row for row in rows_of(out)}


def file_of(content):
    return lambda path: path.write_bytes(content)


UNREADABLE = {
    "no JSON": file_of(b'{"01": {"code": "goo'),
    "no object": file_of(b"[1]"),
    "deep": file_of(b"[" * 200_000),
    "no text": file_of(b"\xff\xfe\x00"),
    "a huge number": file_of(b'{"01": {"tries": ' + b"9" * 5000 + b"}}"),
    "too large": lambda path: path.touch() or os.truncate(path, 1 << 40),
    "a pipe": os.mkfifo,
    "a folder": os.mkdir,
    "a link to zeros": lambda path: path.symlink_to("/dev/zero"),
    "a link to the kernel's messages": lambda path: path.symlink_to("/proc/kmsg"),
    "a link to itself": lambda path: path.symlink_to(path.name),
}


@pytest.mark.parametrize("make", UNREADABLE.values(), ids=UNREADABLE)
def test_a_file_that_is_no_record_is_a_row_and_the_rest_is_graded(make, folder, tmp_path, capsys):
    make(folder / "anna.json")
    status, rows = graded(folder, tmp_path / "grades.csv", "--quiet")
    assert status == 1
    out, err = capsys.readouterr()
    assert not out
    assert " 1 " in err  # how many rows were not judged
    assert rows["anna", ""]["state"] == "unreadable"
    assert rows["anna", ""]["why"]
    assert rows["zoe", LAB]["state"] == "target reached"
    assert sum(student == "anna" for student, _ in rows) == 1


PREDICTIONS = [
    ("17b", {"code": "good", "expected_bound": value}, "unreadable", "expected_bound")
    for value in ("much", True, 0, -1, 10**400, float("nan"), float("inf"), None)
]


@pytest.mark.parametrize(
    ("lab", "entry", "state", "names"),
    [
        ("00", [], "unreadable", "list"),
        ("00", {"code": 5}, "unreadable", "int"),
        ("00", {"code": "broken"}, "not judged", "no compiler"),
        ("00", {"code": "wrong", "right": True, "share": 9.0}, "wrong", "wrong"),
        ("00", {"tries": 3}, "not handed in", ""),
        ("99", {"code": "good"}, "no such lab", ""),
        *PREDICTIONS,
    ],
)
def test_an_answer_that_can_not_be_judged_is_a_row_and_the_rest_is_graded(
    lab, entry, state, names, folder, tmp_path
):
    (folder / "anna.json").write_text(json.dumps({lab: entry, LAB: {"code": "good"}}))
    status, rows = graded(folder, tmp_path / "grades.csv")
    assert rows["anna", lab]["state"] == state
    assert names in rows["anna", lab]["why"]
    assert not rows["anna", lab]["share"]
    assert rows["anna", LAB]["state"] == rows["zoe", LAB]["state"] == "target reached"
    assert status == (state in grading.NOT_JUDGED)


def test_all_is_well_where_all_was_judged(folder, tmp_path, capsys):
    (folder / "anna.json.txt").write_text(GOOD)
    status, rows = graded(folder, tmp_path / "grades.csv")
    assert status == 0
    assert {lab for _, lab in rows} == set(labs())
    row = rows["zoe", LAB]
    assert [float(row[name]) for name in ("share", "gain", "gain_low", "gain_high")] == [1, 4, 4, 4]
    assert "anna.json.txt" in capsys.readouterr().out


@pytest.mark.parametrize("begins", ["=", "+", "-", "@", "\t=", " =", "\r="])
def test_no_cell_is_a_formula(begins, folder, tmp_path):
    name = f"{begins}cmd()"
    (folder / f"{name}.json").write_text(json.dumps({name: {"code": "x"}, LAB: {"code": name}}))
    graded(folder, tmp_path / "grades.csv")
    with open(tmp_path / "grades.csv", newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert sum("cmd()" in cell for cell in cells) > 2
    assert not [cell for cell in cells if cell.lstrip()[:1] in ("=", "+", "-", "@")]


def test_names_and_texts_that_no_line_or_file_can_hold_are_escaped(folder, tmp_path):
    (folder / os.fsdecode(b"an\xff\tn\na.json")).write_text(json.dumps({"\udc80\n": {}, LAB: {}}))
    hand_in(folder, "ben", "\udc80 \0")
    _, rows = graded(folder, tmp_path / "grades.csv")
    assert rows[r"an\udcff\tn\na", r"\udc80\n"]["state"] == "no such lab"
    assert r"\udc80 \x00" in rows["ben", LAB]["why"]


def test_a_full_disk_is_an_error_that_names_the_table(folder, tmp_path):
    with full_disk(400), pytest.raises(StorageError, match=r"grades\.csv"):
        grading.grade(folder, tmp_path / "grades.csv", lambda text: None)
    assert not (tmp_path / "grades.csv").exists()


def test_rows_before_an_interruption_are_kept_until_grading_is_done_anew(folder, tmp_path, capsys):
    hand_in(folder, "zz", "stop")
    out, unfinished = tmp_path / "grades.csv", tmp_path / "grades.csv.unfinished"
    out.write_text("of last week")
    assert cli.main(["grade", str(folder), "--out", str(out)]) == 130
    assert out.read_text() == "of last week"
    assert unfinished.name in capsys.readouterr().out
    assert "target reached" in [row["state"] for row in rows_of(unfinished)]
    hand_in(folder, "zz", "good")
    assert graded(folder, out)[0] == 0
    assert not unfinished.exists()


@pytest.mark.parametrize(
    ("source", "out", "error", "names"),
    [
        ("in", ".", ConfigurationError, "test_a_wrong_setting"),
        ("in", "file/grades.csv", StorageError, "grades.csv"),
        ("in", "in/zoe.json", ConfigurationError, "zoe.json"),
        ("nowhere", "grades.csv", ConfigurationError, "nowhere"),
        ("in/zoe.json", "grades.csv", ConfigurationError, "zoe.json"),
        ("empty", "grades.csv", ConfigurationError, "empty"),
    ],
)
def test_a_wrong_setting_is_refused_before_anything_is_judged(
    source, out, error, names, folder, tmp_path, judged
):
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    with pytest.raises(error, match=names):
        grading.grade(tmp_path / source, tmp_path / out)
    assert not judged
    assert not list(tmp_path.glob("grades*"))
    assert (folder / "zoe.json").read_text() == GOOD


def link(path):
    path.with_name("notes").write_text("student,lab")
    path.symlink_to("notes")


@pytest.mark.parametrize("make", [file_of(b"my notes"), link, os.mkfifo])
def test_a_file_next_to_the_table_that_is_no_table_stays(make, folder, tmp_path):
    unfinished = tmp_path / "t.csv.unfinished"
    make(unfinished)
    before = unfinished.lstat().st_ino, unfinished.lstat().st_mtime_ns
    with pytest.raises(ConfigurationError, match=r"t\.csv\.unfinished"):
        grading.grade(folder, tmp_path / "t.csv")
    assert (unfinished.lstat().st_ino, unfinished.lstat().st_mtime_ns) == before
    assert not (tmp_path / "t.csv").exists()


@pytest.mark.parametrize("program", ["", "#!/bin/sh\necho no namespaces >&2; exit 1\n"])
def test_without_a_sandbox_nothing_is_run_unless_all_is_trusted(
    program, folder, tmp_path, monkeypatch, judged
):
    monkeypatch.setattr(Sandbox, "problem", SANDBOX_PROBLEM)
    if program:
        (tmp_path / "bwrap").write_text(program)
        (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    out = tmp_path / "grades.csv"
    with pytest.raises(UnavailableError, match="no namespaces" if program else "bubblewrap"):
        grading.grade(folder, out)
    assert not judged
    assert not out.exists()
    assert cli.main(["grade", str(folder), "--out", str(out), "--trust"]) == 0
    assert [type(launcher) for *_, launcher in judged] == [Trusted]
    assert out.exists()


def test_a_prediction_stands_next_to_the_measurement(folder, tmp_path):
    hand_in(folder, "anna", "good", lab="17b", expected_gain=8, expected_bound=2.5)
    hand_in(folder, "ben", "wrong", lab="17b", expected_gain=3.0, expected_bound=1)
    _, rows = graded(folder, tmp_path / "grades.csv")
    anna, ben = rows["anna", "17b"], rows["ben", "17b"]
    names = ("expected_gain", "gain", "expected_bound")
    assert [float(anna[name]) for name in names] == [8, 4, 2.5]
    assert float(anna["nanoseconds"]) == pytest.approx(1e9 / (2 * 512))  # two cases of 512 boards
    assert float(ben["expected_gain"]) == 3
    assert not ben["nanoseconds"]
    assert not rows["zoe", LAB]["expected_gain"]
