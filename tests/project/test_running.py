"""Areas select the tests that a change can have broken, and a failing test is run once more."""

import ast
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests import areas, run

ROOT = Path(__file__).parents[2]
AREAS = areas.areas()
PATHS = [pattern for area in AREAS.values() for pattern in area["paths"]]
TESTS = {test for area in AREAS.values() for test in area["tests"]}
# Changes that no area has run these, as they run everything.
OF_EVERYTHING = {"tests/project/test_wheels.py"}


@pytest.fixture(scope="module")
def tracked():
    command = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"]
    return subprocess.check_output(command, text=True).splitlines()


def has_system_test(file: Path) -> bool:
    nodes = ast.walk(ast.parse(file.read_text()))
    return any(isinstance(node, ast.Attribute) and node.attr == "system" for node in nodes)


def test_paths_and_tests_of_areas_exist(tracked):
    there = [path for path in tracked if (ROOT / path).exists()]
    empty = [test for test in TESTS if not any(areas.is_selected(path, {test}) for path in there)]
    assert empty == []
    assert [each for each in PATHS if not any(fnmatch(path, each) for path in tracked)] == []


def test_every_file_of_the_system_tier_is_of_an_area(tracked):
    files = [path for path in tracked if fnmatch(path, "tests/*/test_*.py")]
    names = [path for path in files if (ROOT / path).exists() and has_system_test(ROOT / path)]
    of_none = {name for name in names if not areas.is_selected(name, TESTS)}
    assert of_none == OF_EVERYTHING


def test_a_change_selects_its_areas_a_test_file_itself_and_a_path_of_no_area_everything():
    test = "tests/x/test_y.py"
    assert areas.tests_of([]) == set()
    assert areas.tests_of([test]) == {test}
    assert areas.tests_of(["cpp/learn/row.hpp", test]) >= {test, "tests/proof/cpp"}
    assert areas.tests_of(["docs/library.md", "pyproject.toml"]) is None


def test_a_folder_selects_its_files_and_no_others():
    assert areas.is_selected("tests/library/train/test_ppo.py", {"tests/library/train"})
    assert not areas.is_selected("tests/library/train_more/test_ppo.py", {"tests/library/train"})


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
