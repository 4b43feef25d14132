"""The leaderboard holds what was measured, and refuses what can't be."""

import csv
import hashlib
import json

import pytest

from rungs._src.machine.describe import describe
from rungs.errors import ConfigurationError
from rungs_course import cli, paths
from rungs_course.labs import leaderboard, record
from rungs_course.labs.lab import find
from rungs_course.labs.sandbox import Sandbox, Trusted
from rungs_course.labs.verdict import Verdict
from rungs_course.pages import leaderboard as leaderboard_page
from rungs_course.tables import fill

COSTS = {"yours": [1.0] * 11, "solution": [0.5] * 11, "baseline": [4.0] * 11, "bound": [0.1] * 11}


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A tree whose leaderboard is empty, of a user whose labs 01 and open are right."""
    file = leaderboard.path(tmp_path)
    file.parent.mkdir()
    with open(file, "w", newline="") as empty:
        csv.writer(empty, lineterminator="\n").writerow(leaderboard.SCHEMA)
    (tmp_path / "docs").mkdir()
    page = "before\n<!-- leaderboard -->\nold\n<!-- /leaderboard -->\nafter\n"
    (tmp_path / "docs" / "labs.md").write_text(page)
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    monkeypatch.setattr(leaderboard, "path", lambda root=tmp_path: root / "data/leaderboard.csv")
    monkeypatch.setattr(record, "path", lambda: tmp_path / "labs.json")
    entries = {name: {"right": True, "code": f"of {name}"} for name in ("01", "open")}
    (tmp_path / "labs.json").write_text(json.dumps(entries | {"00": {"right": False}}))
    monkeypatch.setattr(Sandbox, "problem", lambda self: None)
    monkeypatch.setattr(
        leaderboard, "assess", lambda name, code, place: Verdict(find(name), costs=COSTS)
    )
    return tmp_path


def test_the_repositorys_leaderboard_is_one_and_its_page_shows_it():
    page = (paths.ROOT / "docs" / "labs.md").read_text()
    assert leaderboard.read(leaderboard.path()) is not None
    assert fill(page, {"leaderboard": leaderboard_page.leaders(paths.ROOT)}) == page
    assert "<!-- leaderboard -->\n" in page


def test_an_answer_is_added_with_its_gain_and_machine(root, capsys):
    assert cli.main(["leaderboard", "--add", "Anna O'Neil", "--labs", "01,lab-open"]) == 0
    first, second = leaderboard.read(leaderboard.path(root))
    assert [first[name] for name in ("lab", "name", "gain", "share")] == [
        "01", "Anna O'Neil", "4", "0.5",
    ]  # fmt: skip
    assert (second["lab"], second["share"]) == ("open", "0.1")  # of the bound
    assert first["code_sha256"] == hashlib.sha256(b"of 01").hexdigest()
    assert {key: first[key] for key in describe()} == {
        key: "" if value is None else str(value) for key, value in describe().items()
    }
    page = (root / "docs" / "labs.md").read_text()
    assert "| 01 | Anna O'Neil | 4× (4 to 4) | 50% | " in page
    assert page.startswith("before\n")
    assert page.endswith("after\n")
    assert "old" not in page
    assert "| open | Anna O'Neil |" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "labs", "offender"),
    [
        ("Ben", ["02"], "lab 02: there is no right answer"),
        ("Ben", ["00"], "lab 00: there is no right answer"),
        ("Ben", ["99"], "no lab '99'"),
        ("=cmd()", ["01"], "name='=cmd"),
        ("a | b", ["01"], "name="),
        ("<b>", ["01"], "name="),
        ("", ["01"], "name="),
        ("Ben", ["01", "01"], "listed already"),
    ],
)
def test_what_can_not_be_added_leaves_the_file_as_it_was(name, labs, offender, root):
    leaderboard.add("Anna", ["01"], Trusted())
    before = leaderboard.path(root).read_bytes()
    with pytest.raises(ConfigurationError, match=offender):
        leaderboard.add(name, ["open", *labs], Trusted())
    assert leaderboard.path(root).read_bytes() == before


def test_an_answer_that_is_wrong_now_or_was_disturbed_is_refused(root, monkeypatch):
    lab = find("01")
    noisy = COSTS | {"yours": [1.0, 2.5] * 5 + [1.0]}
    for verdict, offender in [
        (Verdict(lab, problem="it fails"), "lab 01: .*it fails"),
        (Verdict(lab, costs=noisy), "gain_low=1.6 and gain_high=4 are more than 2 times apart"),
    ]:
        monkeypatch.setattr(leaderboard, "assess", lambda *_, found=verdict: found)
        with pytest.raises(ConfigurationError, match=rf"(?s){offender}"):
            leaderboard.add("Anna", ["01"], Trusted())
    assert not leaderboard.read(leaderboard.path(root))


@pytest.mark.parametrize(
    ("change", "offender"),
    [
        ({"lab": "99"}, "lab='99'"),
        ({"gain": "-4"}, "gain='-4'"),
        ({"gain": "nan"}, "gain='nan'"),
        ({"gain": "1e999"}, "gain='1e999'"),
        ({"gain": "9"}, "gain=9 is not between 4 and 4"),
        ({"share_low": "0.6"}, "share=0.5 is not between 0.6"),
        ({"date": "yesterday"}, "date='yesterday'"),
        ({"date": "2026-11-25T16:00"}, "date="),  # of no zone
        ({"code_sha256": "abc"}, "code_sha256='abc'"),
        ({"machine": "a | b"}, "machine="),
        ({"cores": "two"}, "cores='two'"),
        ({"system": "[x](http://x)"}, "system="),
        ({"python": "=1+1"}, "python="),
        ({}, "the same answer of 'Anna' on the same machine"),
    ],
)
def test_a_row_against_the_schema_is_named_by_row_and_column(change, offender, root):
    leaderboard.add("Anna", ["01"], Trusted())
    file = leaderboard.path(root)
    (row,) = leaderboard.read(file)
    with open(file, "a", newline="") as more:
        csv.DictWriter(more, [*leaderboard.SCHEMA]).writerow(row | change)
    with pytest.raises(ConfigurationError, match=offender) as refused:
        leaderboard.read(file)
    assert f"{file}, row 3: " in str(refused.value)


@pytest.mark.parametrize("text", [b"", b"lab,name\n", b"\xff", b'"'])
def test_a_file_that_is_no_leaderboard_is_refused(text, root, capsys):
    leaderboard.path(root).write_bytes(text)
    assert cli.main(["leaderboard"]) == 2
    assert "leaderboard.csv is not a leaderboard" in capsys.readouterr().err
    assert "old" in (root / "docs" / "labs.md").read_text()


def test_of_each_name_and_machine_the_best_answer_is_shown(root):
    rows = [
        {"lab": lab, "name": name, "gain": gain} | dict.fromkeys(leaderboard.SAME, machine)
        for lab, name, gain, machine in [
            ("open", "Anna", "3", "x"), ("01", "Ben", "9", "x"), ("01", "Anna", "10", "x"),
            ("01", "Ben", "20", "y"), ("01", "Anna", "8", "x"),
        ]
    ]  # fmt: skip
    shown = [(row["lab"], row["name"], row["gain"]) for row in leaderboard.best(rows)]
    expected = [
        ("01", "Ben", "20"),
        ("01", "Anna", "10"),
        ("01", "Ben", "9"),
        ("open", "Anna", "3"),
    ]
    assert shown == expected
