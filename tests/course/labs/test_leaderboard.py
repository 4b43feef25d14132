"""The leaderboard holds what was measured; what can't be added changes nothing."""

import csv
import hashlib
import json

import pytest

from rungs.errors import ConfigurationError
from rungs_course import cli, paths
from rungs_course.labs import leaderboard, record
from rungs_course.labs.lab import find
from rungs_course.labs.sandbox import Sandbox
from rungs_course.labs.verdict import Verdict
from rungs_course.pages import leaderboard as leaderboard_page
from rungs_course.tables import fill

COSTS = {"yours": [1.0] * 11, "solution": [0.5] * 11, "baseline": [4.0] * 11}


def test_the_page_shows_the_repositorys_leaderboard():
    page = (paths.ROOT / "docs" / "labs.md").read_text()
    assert fill(page, {"leaderboard": leaderboard_page.leaders(paths.ROOT)}) == page


def test_an_answer_is_added_once_or_not_at_all(tmp_path, monkeypatch):
    file = tmp_path / "data" / "leaderboard.csv"
    file.parent.mkdir()
    file.write_text(",".join(leaderboard.SCHEMA) + "\n")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "labs.md").write_text("<!-- leaderboard -->\n<!-- /leaderboard -->\n")
    (tmp_path / "labs.json").write_text(json.dumps({"01": {"right": True, "code": "mine"}}))
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    monkeypatch.setattr(leaderboard, "path", lambda root=tmp_path: file)
    monkeypatch.setattr(record, "path", lambda: tmp_path / "labs.json")
    monkeypatch.setattr(Sandbox, "problem", lambda self: None)
    monkeypatch.setattr(leaderboard, "assess", lambda name, *_: Verdict(find(name), costs=COSTS))

    assert cli.main(["leaderboard", "--add", "Anna O'Neil", "--labs", "01"]) == 0
    (row,) = leaderboard.read(file)
    assert (row["lab"], row["name"], row["gain"], row["share"]) == ("01", "Anna O'Neil", "4", "0.5")
    assert row["code_sha256"] == hashlib.sha256(b"mine").hexdigest()
    assert "Anna O'Neil" in (tmp_path / "docs" / "labs.md").read_text()

    before = file.read_bytes()
    for name, lab in (("Anna O'Neil", "01"), ("Ben", "02"), ("Ben", "99"), ("<b>", "01")):
        with pytest.raises(ConfigurationError, match=lab):
            leaderboard.add(name, [lab], Sandbox())
        assert file.read_bytes() == before
    with open(file, "a", newline="") as table:
        csv.DictWriter(table, row).writerow(row | {"machine": "a | b"})
    with pytest.raises(ConfigurationError, match=r"row 3.*machine"):
        leaderboard.read(file)
