"""A test that fails is run once more, alone."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COUNTING = """
from pathlib import Path

def test_it():
    with Path({counter!r}).open("a") as file:
        file.write("x")
    assert len(Path({counter!r}).read_text()) >= {passes_at}

def test_another():
    pass
"""


@pytest.mark.parametrize(("passes_at", "status", "word"), [(2, 0, "FLAKY"), (3, 1, "FAILED")])
def test_a_failure_counts_where_the_second_run_fails_too(passes_at, status, word, tmp_path):
    counter = tmp_path / "runs"
    (tmp_path / "test_one.py").write_text(
        COUNTING.format(counter=str(counter), passes_at=passes_at)
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "tests.run", "-q", "-p", "no:cacheprovider"]
    command += [f"--rootdir={tmp_path}", "-c", "pytest.ini", "--numprocesses=0", "test_one.py"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == status, done.stdout + done.stderr
    assert counter.read_text() == "xx"
    assert f"{word} test_one.py::test_it" in done.stdout
