"""A class of twelve is graded end to end: right, slow, wrong and hostile answers."""

import csv
import functools
import json

import pytest

from rungs_course import cli
from rungs_course.labs import assessing, grading
from rungs_course.labs.lab import find
from rungs_course.labs.sandbox import Sandbox

PROBLEM = Sandbox().problem()
pytestmark = [pytest.mark.system, pytest.mark.skipif(bool(PROBLEM), reason=str(PROBLEM))]

LAB = "01"
SECONDS = 15  # an answer's, so that one that hangs does not take a minute
# Whether a file of the grader's can be read, or written to; then the answer is right.
READS = """
def third_times(keys):
    open({path!r}).read()
    raise ValueError("it was read")
"""
WRITES = """
import os
def third_times(keys):
    for name in ("grades.csv", "grades.csv.unfinished", "class.html"):
        with open(os.path.join({folder!r}, name), "w") as file:
            file.write("full marks")
    raise ValueError("it was written")
"""
CALLS = """
import socket
def third_times(keys):
    socket.create_connection(("127.0.0.1", 1), timeout=1)
"""
HANGS = "def third_times(keys):\n    while True: pass\n"
ENDS = "import os\ndef third_times(keys):\n    os._exit(0)\n"
PRINTS = "def third_times(keys):\n    while True: print('</table><script>' * 1000)\n"
HOARDS = "def third_times(keys):\n    return bytearray(1 << 40)\n"
WRONG = "def third_times(keys):\n    return [False] * len(keys)\n"
NO_PYTHON = "def third_times(keys)\n    return []\n"


def test_a_class_of_twelve_is_graded(tmp_path, monkeypatch):
    monkeypatch.setattr(grading, "assess", functools.partial(assessing.assess, seconds=SECONDS))
    monkeypatch.setattr(assessing, "_REPEATS", 5)
    right, slow = find(LAB).code("solution"), find(LAB).code("baseline")
    secret = tmp_path / "secret"
    secret.write_text("the grader's")
    handed_in = {
        "anna": right,
        "ben": slow,
        "cleo": WRONG,
        "dan": NO_PYTHON,
        "eve": READS.format(path=str(secret)),
        "finn": WRITES.format(folder=str(tmp_path)),
        "gus": CALLS,
        "hal": HANGS,
        "ida": ENDS,
        "jon": PRINTS,
        "=kim()": HOARDS,
    }
    folder = tmp_path / "in"
    folder.mkdir()
    for name, code in handed_in.items():
        (folder / f"{name}@2026-11-24.json").write_text(json.dumps({LAB: {"code": code}}))
    (folder / "lea@2026-11-24.json").write_bytes(b'{"01": {"code": "de')
    # And two hand in once more: in time, and late.
    (folder / "cleo@2026-11-25T1000.json").write_text(json.dumps({LAB: {"code": right}}))
    (folder / "ben@2026-11-25T1300.json").write_text(json.dumps({LAB: {"code": right}}))

    out, page = tmp_path / "grades.csv", tmp_path / "class.html"
    how = ["--out", str(out), "--page", str(page), "--deadline", "2026-11-25T12:00"]
    assert cli.main(["grade", str(folder), *how]) == 1
    with open(out, newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["lab"] in (LAB, "")]
    counting = {row["student"]: row for row in rows if row["counts"] == "yes"}
    assert len(counting) == 12
    states = {student: row["state"] for student, row in counting.items()}
    assert states == {
        **{name: "wrong" for name in ("dan", "eve", "finn", "gus", "hal", "ida", "jon")},
        **{"anna": states["anna"], "ben": states["ben"], "cleo": states["cleo"]},
        **{"'=kim()": "wrong", "lea": "unreadable"},
    }
    assert {states[name] for name in ("anna", "ben", "cleo")} <= {"right", "target reached"}
    # What a slow answer gains over itself is 1, and what is right gains more.
    gains = {name: float(counting[name]["gain"]) for name in ("anna", "ben", "cleo")}
    assert min(gains["anna"], gains["cleo"]) > 1.5 * gains["ben"]
    assert float(counting["ben"]["gain_low"]) <= gains["ben"] <= float(counting["ben"]["gain_high"])

    others = {(row["student"], row["counts"]): row["state"] for row in rows}
    assert others["cleo", "no: an earlier one"] == "wrong"
    assert others["ben", "no: late"] in ("right", "target reached")
    whys = {student: row["why"] for student, row in counting.items()}
    assert "No such file" in whys["eve"]
    assert "No such file" in whys["finn"]
    assert "refused" in whys["gus"] or "unreachable" in whys["gus"]
    assert f"longer than {SECONDS} s" in whys["hal"]
    assert "MemoryError" in whys["'=kim()"]
    assert "full marks" not in page.read_text()
    assert "<script" not in page.read_text()
