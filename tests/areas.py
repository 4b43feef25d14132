"""Which tests of the system tier the changes since a commit can have broken, by `areas.toml`."""

import subprocess
import tomllib
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[1]


def areas() -> dict[str, dict[str, list[str]]]:
    """Returns the areas: the patterns of their `paths`, and their `tests`."""
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text())


def changed_since(commit: str) -> list[str]:
    """Returns the files that the commits after one have changed, added or deleted."""
    command = ["git", "-C", str(ROOT), "diff", "--name-only", "--no-renames", commit, "HEAD"]
    return subprocess.check_output(command, text=True).splitlines()


def tests_of(paths: Iterable[str]) -> set[str] | None:
    """Returns the tests that changes of paths run; None for all, as a path is of no area.

    A test file that has changed runs itself.
    """
    selected = set()
    for path in paths:
        tests = [
            test
            for area in areas().values()
            if any(fnmatch(path, pattern) for pattern in area["paths"])
            for test in area["tests"]
        ]
        if fnmatch(path, "tests/*/test_*.py"):
            tests.append(path)
        if not tests:
            return None
        selected.update(tests)
    return selected


def is_selected(test: str, selected: set[str]) -> bool:
    """Returns whether a test, by its file, is among those of `tests_of`."""
    return any(fnmatch(test, name) or test.startswith(f"{name}/") for name in selected)
