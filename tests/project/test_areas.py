"""Areas select the tests of the system tier that a change can have broken."""

import ast
import subprocess
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests import areas

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
