"""Grading goes on whatever a student handed in, and keeps every verdict."""

import csv
import json
import os

import pytest

from rungs._src.core import progress
from rungs.errors import ConfigurationError, StorageError, UnavailableError
from rungs_course import cli
from rungs_course.labs import grading
from rungs_course.labs.handins import collect
from rungs_course.labs.lab import find, labs
from rungs_course.labs.sandbox import Sandbox, Trusted
from rungs_course.labs.verdict import Verdict

LAB = "01"
GOOD = json.dumps({LAB: {"right": True, "tries": 1, "code": "good"}})


@pytest.fixture(autouse=True)
def judge(monkeypatch):
    """A judge that runs nothing: an answer's text says what becomes of it."""

    def assess(name, code, place):
        if code == "broken":
            raise UnavailableError("no compiler is here")
        if code == "stop":
            raise KeyboardInterrupt
        costs = {"yours": [1.0] * 11, "solution": [1.0] * 11, "baseline": [4.0] * 11}
        lab = find(name)
        return Verdict(lab, costs=costs) if code == "good" else Verdict(lab, problem=code)

    monkeypatch.setattr(grading, "assess", assess)
    monkeypatch.setattr(Sandbox, "problem", lambda self: None)


@pytest.fixture
def folder(tmp_path):
    """A folder in which one student handed in a right answer to one lab."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "zoe.json").write_text(GOOD)
    return folder


def graded(folder, out):
    """Returns the exit status of `grade`, and its table's rows by student and lab."""
    status = cli.main(["grade", str(folder), "--out", str(out)])
    with open(out, newline="") as file:
        return status, {(row["student"], row["lab"]): row for row in csv.DictReader(file)}


def file_of(content):
    return lambda path: path.write_bytes(content)


def too_large(path):
    with open(path, "w") as file:
        file.truncate(1 << 40)


UNREADABLE = {
    "no JSON": file_of(b'{"01": {"code": "goo'),
    "no object": file_of(b"[1]"),
    "deep": file_of(b"[" * 200_000),
    "no text": file_of(b"\xff\xfe\x00"),
    "a huge number": file_of(b'{"01": {"tries": ' + b"9" * 5000 + b"}}"),
    "too large": too_large,
    "a pipe": os.mkfifo,
    "a folder": os.mkdir,
    "a link to nowhere": lambda path: path.symlink_to("nowhere"),
    "a link to zeros": lambda path: path.symlink_to("/dev/zero"),
    "a link to the kernel's messages": lambda path: path.symlink_to("/proc/kmsg"),
    "a link to itself": lambda path: path.symlink_to(path.name),
}


@pytest.mark.parametrize("make", UNREADABLE.values(), ids=UNREADABLE)
def test_a_file_that_is_no_record_is_a_row_and_the_rest_is_graded(make, folder, tmp_path):
    make(folder / "anna.json")
    status, rows = graded(folder, tmp_path / "grades.csv")
    assert status == 1
    assert rows["anna", ""]["state"] == "unreadable"
    assert rows["anna", ""]["why"]
    assert rows["zoe", LAB]["state"] == "target reached"
    assert sum(student == "anna" for student, _ in rows) == 1


@pytest.mark.parametrize(
    ("lab", "entry", "state"),
    [
        ("00", [], "unreadable"),
        ("00", {"code": 5}, "unreadable"),
        ("00", {"code": "broken"}, "not judged"),
        ("00", {"code": "wrong"}, "wrong"),
        ("00", {"tries": 3}, "not handed in"),
        ("99", {"code": "good"}, "no such lab"),
    ],
)
def test_an_answer_that_can_not_be_judged_is_a_row_and_the_rest_is_graded(
    lab, entry, state, folder, tmp_path
):
    (folder / "anna.json").write_text(json.dumps({lab: entry, LAB: {"code": "good"}}))
    status, rows = graded(folder, tmp_path / "grades.csv")
    assert rows["anna", lab]["state"] == state
    assert rows["anna", LAB]["state"] == rows["zoe", LAB]["state"] == "target reached"
    assert status == (state in grading.NOT_JUDGED)


def test_all_is_well_where_all_was_judged(folder, tmp_path, capsys):
    (folder / "anna.json.txt").write_text(GOOD)
    status, rows = graded(folder, tmp_path / "grades.csv")
    assert status == 0
    assert {lab for _, lab in rows} == set(labs())
    assert float(rows["zoe", LAB]["share"]) == 1
    assert [float(rows["zoe", LAB][name]) for name in ("gain", "gain_low", "gain_high")] == [4] * 3
    assert "anna.json.txt is not a *.json file: skipped" in capsys.readouterr().out


def test_quiet_grading_prints_what_was_not_judged_alone(folder, tmp_path, capsys):
    assert cli.main(["grade", "--quiet", str(folder), "--out", str(tmp_path / "a.csv")]) == 0
    assert capsys.readouterr() == ("", "")
    (folder / "anna.json").write_text("[1]")
    assert cli.main(["grade", "--quiet", str(folder), "--out", str(tmp_path / "a.csv")]) == 1
    assert capsys.readouterr() == ("", "rungs: not judged: 1 of the rows, see the table\n")


def test_a_terminal_shows_how_many_answers_are_judged(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "is_shown", lambda say: say is progress.line)
    assess, seen = grading.assess, []

    def watching(name, code, place):
        seen.extend((bar.n, bar.total) for bar in progress._bars)
        return assess(name, code, place)

    monkeypatch.setattr(grading, "assess", watching)
    assert graded(folder, tmp_path / "grades.csv")[0] == 0
    assert seen == [(list(labs()).index(LAB), len(labs()))]
    assert progress._bars == []


@pytest.mark.parametrize("begins", ["=", "+", "-", "@", "\t=", " =", "\r="])
def test_no_cell_is_a_formula(begins, folder, tmp_path):
    name = f"{begins}cmd()"
    (folder / f"{name}.json").write_text(json.dumps({name: {"code": "x"}, LAB: {"code": name}}))
    graded(folder, tmp_path / "grades.csv")
    with open(tmp_path / "grades.csv", newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert sum("cmd()" in cell for cell in cells) > 2
    assert not [cell for cell in cells if cell.lstrip()[:1] in ("=", "+", "-", "@")]


def test_texts_that_no_file_can_hold_are_escaped(folder, tmp_path):
    (folder / os.fsdecode(b"anna\xff.json")).write_text(json.dumps({"\udc80": {}, LAB: {}}))
    (folder / "ben.json").write_text(json.dumps({LAB: {"code": "\udc80 \0"}}))
    _, rows = graded(folder, tmp_path / "grades.csv")
    assert rows[r"anna\udcff", r"\udc80"]["state"] == "no such lab"
    assert r"\udc80 \x00" in rows["ben", LAB]["why"]


def test_what_was_judged_before_an_interruption_is_kept_until_it_is_done_anew(
    folder, tmp_path, capsys
):
    (folder / "zz.json").write_text(json.dumps({LAB: {"code": "stop"}}))
    out, unfinished = tmp_path / "grades.csv", tmp_path / "grades.csv.unfinished"
    out.write_text("of last week")
    assert cli.main(["grade", str(folder), "--out", str(out)]) == 130
    assert out.read_text() == "of last week"
    assert unfinished.name in capsys.readouterr().out
    assert f",yes,{LAB},target reached" in unfinished.read_text()
    (folder / "zz.json").write_text(GOOD)
    assert graded(folder, out)[0] == 0
    assert not unfinished.exists()


def test_a_table_that_can_not_be_written_is_reported_before_anything_is_judged(folder, tmp_path):
    (folder / "zoe.json").write_text(json.dumps({LAB: {"code": "stop"}}))
    (tmp_path / "file").touch()
    for out, error in [
        (tmp_path, ConfigurationError),
        (tmp_path / "file" / "grades.csv", StorageError),
        (folder / "zoe.json", ConfigurationError),
    ]:
        with pytest.raises(error, match=out.name):
            grading.grade(folder, out)
    assert json.loads((folder / "zoe.json").read_text())


@pytest.mark.parametrize("name", ["nowhere", "in/zoe.json", "empty"])
def test_a_folder_without_hand_ins_is_refused(name, folder, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigurationError, match=name):
        grading.grade(tmp_path / name, tmp_path / "grades.csv")
    assert not list(tmp_path.glob("grades*"))


def link(path):
    path.with_name("notes").write_text("student,lab")
    path.symlink_to("notes")


@pytest.mark.parametrize("make", [file_of(b"my notes"), link, os.mkfifo])
def test_a_file_next_to_the_table_that_is_not_ours_stays(make, folder, tmp_path):
    unfinished = tmp_path / "t.csv.unfinished"
    make(unfinished)
    before = unfinished.lstat().st_ino, unfinished.lstat().st_mtime_ns
    with pytest.raises(ConfigurationError, match=r"t\.csv\.unfinished"):
        grading.grade(folder, tmp_path / "t.csv")
    assert (unfinished.lstat().st_ino, unfinished.lstat().st_mtime_ns) == before
    assert not (tmp_path / "t.csv").exists()


def test_without_a_sandbox_nothing_is_run_unless_all_is_trusted(
    folder, tmp_path, monkeypatch, capsys
):
    monkeypatch.undo()
    places = []

    def assess(name, code, place):
        places.append(type(place))
        return Verdict(find(name), problem="wrong")

    monkeypatch.setattr(grading, "assess", assess)
    monkeypatch.setenv("PATH", str(tmp_path))
    out = tmp_path / "grades.csv"
    assert cli.main(["grade", str(folder), "--out", str(out)]) != 0
    says = capsys.readouterr().err
    assert "bwrap is not installed: apt-get install bubblewrap" in says
    assert "--trust" in says
    assert not places
    assert not out.exists()
    assert cli.main(["grade", str(folder), "--out", str(out), "--trust"]) == 0
    assert places == [Trusted]
    assert out.exists()


def test_a_sandbox_that_does_not_work_says_why(folder, tmp_path, monkeypatch):
    monkeypatch.undo()
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho no namespaces here >&2; exit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(UnavailableError, match=r"no namespaces here.*--trust"):
        grading.grade(folder, tmp_path / "grades.csv")


def handed_in(folder, name, code):
    (folder / f"{name}.json").write_text(json.dumps({LAB: {"code": code}}))


def test_the_newest_hand_in_before_the_deadline_counts_and_all_are_shown(folder, tmp_path):
    for time, code in (("2026-11-20", "slow"), ("2026-11-24T2359", "good"), ("2026-11-26", "late")):
        handed_in(folder, f"anna@{time}", code)
    handed_in(folder, "ben@uni.example", "good")  # an address, and no time
    os.utime(folder / "ben@uni.example.json", (0, 1_800_000_000))  # in 2027
    os.utime(folder / "zoe.json", (0, 1_700_000_000))  # in 2023
    out, page = tmp_path / "grades.csv", tmp_path / "class.html"
    how = ["--out", str(out), "--page", str(page), "--deadline", "2026-11-25T12:00"]
    assert cli.main(["grade", str(folder), *how]) == 0
    with open(out, newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["lab"] == LAB]
    assert [(row["student"], row["counts"], row["state"]) for row in rows] == [
        ("anna", "no: an earlier one", "wrong"),
        ("anna", "yes", "target reached"),
        ("anna", "no: late", "wrong"),
        ("ben@uni.example", "no: late", "target reached"),
        ("zoe", "yes", "target reached"),
    ]
    assert rows[1]["handed_in"].startswith("2026-11-24T23:59:00")
    shown = page.read_text()
    assert shown.count('<tr class="not-counted">') == 3
    assert shown.count("<tr>") == 1 + 2
    assert "4× (4 to 4)<br>143% of the target" in shown  # of 70 %


def test_without_a_deadline_the_newest_counts(folder, tmp_path):
    for time in ("2026-11-20", "2026-11-26"):
        handed_in(folder, f"anna@{time}", "good")
    found = collect(sorted(folder.glob("*.json")))
    assert [each.counts for each in found] == ["no: an earlier one", "yes", "yes"]


def test_what_is_handed_in_once_more_is_judged_once(folder, tmp_path, monkeypatch):
    judged = []
    assess = grading.assess
    monkeypatch.setattr(grading, "assess", lambda *args: judged.append(args) or assess(*args))
    for time in ("2026-11-20", "2026-11-21", "2026-11-22"):
        handed_in(folder, f"zoe@{time}", "good")
    graded(folder, tmp_path / "grades.csv")
    assert len(judged) == 1


def test_a_page_shows_what_students_wrote_as_text_alone(folder, tmp_path):
    hostile = '"><script>alert(1)</script>'
    handed_in(folder, "<img src=x>", hostile)
    (folder / "zz.json").write_text(json.dumps({hostile: {"code": "x"}}))
    page = tmp_path / "class.html"
    grading.grade(folder, tmp_path / "grades.csv", page=page)
    text = page.read_text()
    assert "&lt;img src=x&gt;" in text
    assert "<script" not in text
    assert "<img" not in text


def expecting(folder, name, gain, bound, lab="17b", code="good"):
    entry = {"code": code, "expected_gain": gain, "expected_bound": bound}
    (folder / f"{name}.json").write_text(json.dumps({lab: entry}))


def test_what_was_expected_stands_next_to_what_was_measured(folder, tmp_path):
    expecting(folder, "anna", 8, 2.5)
    expecting(folder, "ben", 3.0, 1, code="wrong")
    handed_in(folder, "cleo", "good")
    page = tmp_path / "class.html"
    assert grading.grade(folder, tmp_path / "grades.csv", page=page) == 0
    with open(tmp_path / "grades.csv", newline="") as file:
        rows = {(row["student"], row["lab"]): row for row in csv.DictReader(file)}
    anna = rows["anna", "17b"]
    took = 1e9 / (2 * 512)  # a second for two cases of 512 boards
    assert (float(anna["expected_gain"]), float(anna["gain"])) == (8, 4)
    assert float(anna["expected_bound"]) == 2.5
    assert float(anna["nanoseconds"]) == pytest.approx(took)
    assert float(rows["ben", "17b"]["expected_gain"]) == 3
    assert not rows["ben", "17b"]["nanoseconds"]
    assert not rows["cleo", LAB]["expected_gain"]
    text = page.read_text()
    assert f"expected 8×<br>took {took:.3g} ns per board, expected 2.5 ns at best" in text
    assert text.count("<br>expected") == 1


def test_of_an_answer_that_is_handed_in_again_the_newest_expectation_is_shown(folder, tmp_path):
    for time, gain in (("2026-11-20", 8), ("2026-11-21", 9)):
        expecting(folder, f"anna@{time}", gain, 2.5)
    (folder / "anna@2026-11-22.json").write_text(json.dumps({"17b": {"code": "good"}}))
    assert cli.main(["grade", str(folder), "--out", str(tmp_path / "grades.csv")]) == 0
    with open(tmp_path / "grades.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["lab"] == "17b"]
    shown = [row["expected_gain"] for row in rows if row["student"] == "anna"]
    assert shown == ["8", "9", ""]


@pytest.mark.parametrize("value", ["much", True, 0, -1, 10**400, float("nan"), float("inf"), None])
def test_an_expectation_that_is_no_number_is_named(value, folder, tmp_path):
    expecting(folder, "anna", 8, value)
    status, rows = graded(folder, tmp_path / "grades.csv")
    assert status == 1
    assert rows["anna", "17b"]["state"] == "unreadable"
    assert rows["anna", "17b"]["why"] == "its expected_bound is not a positive number"


@pytest.mark.parametrize(
    ("how", "offender"),
    [
        ({"deadline": "Friday"}, "deadline='Friday'"),
        ({"page": "grades.csv"}, "both table and page"),
        ({"page": "in/zoe.json"}, "was handed in"),
        ({"page": "in"}, "is not a file"),
    ],
)
def test_what_can_not_be_is_refused_before_anything_is_judged(how, offender, folder, tmp_path):
    how = {key: tmp_path / value if key == "page" else value for key, value in how.items()}
    with pytest.raises(ConfigurationError, match=offender):
        grading.grade(folder, tmp_path / "grades.csv", **how)
    assert not list(tmp_path.glob("grades*"))
    assert (folder / "zoe.json").read_text() == GOOD
