"""A test that fails is run once more, alone."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests import run

ROOT = Path(__file__).parents[2]
COUNTING = """
from pathlib import Path
import pytest

@pytest.mark.parametrize("passes_at", [1, 2, 3])
def test_it(passes_at):
    counter = Path(f"runs-{passes_at}")
    with counter.open("a") as file:
        file.write("x")
    assert len(counter.read_text()) >= passes_at
"""


def test_a_failure_counts_where_the_second_run_fails_too(tmp_path):
    (tmp_path / "test_one.py").write_text(COUNTING)
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
    assert done.returncode == 1, done.stdout + done.stderr
    runs = {path.name[-1]: path.read_text() for path in tmp_path.glob("runs-*")}
    assert runs == {"1": "x", "2": "xx", "3": "xx"}
    assert "FLAKY test_one.py::test_it[2]" in done.stdout
    assert "FAILED test_one.py::test_it[3]" in done.stdout.partition("Once more")[2]


def test_flaky_tests_alone_refuse_nothing(monkeypatch):
    monkeypatch.setattr(run.os, "environ", {})
    monkeypatch.setattr(pytest, "main", lambda *_, **__: pytest.ExitCode.TESTS_FAILED)
    for failed, status in (([], 0), (["a test"], 1)):
        monkeypatch.setattr(run, "failed_alone", lambda _, failed=failed: failed)
        assert run.main([]) == status
