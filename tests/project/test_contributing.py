"""The guide to a new rung leads to one."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import succeed

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text()
STEP = re.compile(r"`([\w/]+\.\w+)`(?:, before `(.+?)`)?:\n\n```\w+\n(.*?)```", re.DOTALL)


@pytest.mark.system
def test_the_guide_leads_to_a_rung(tmp_path):
    for name in ("cpp", "lib", "tests"):
        ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(ROOT / name, tmp_path / name, symlinks=True, ignore=ignore)
    for name in ("pyproject.toml", ".clang-format"):
        shutil.copy(ROOT / name, tmp_path)
    steps = STEP.findall(GUIDE)
    assert steps
    for name, before, text in steps:
        file = tmp_path / name
        if before:
            old = file.read_text()
            assert old.count(before) == 1, before
            file.write_text(old.replace(before, text + before))
        else:
            assert not file.exists()
            file.write_text(text)
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "lib")}
    python = sorted({name for name, *_ in steps if name.endswith(".py")})
    cpp = sorted({name for name, *_ in steps} - {*python})
    bin = Path(sys.executable).parent
    for command in (
        [sys.executable, "-m", "pytest", "-q", "tests/library/chess/test_backwards.py"],
        [bin / "ruff", "check", *python],
        [bin / "ruff", "format", "--check", *python],
        [bin / "clang-format", "--dry-run", "--Werror", *cpp],
    ):
        succeed(command, cwd=tmp_path, env=environment)


TOOLS = ("ruff", "clang-format", "nbstripout", "shellcheck", "codespell", "node")


@pytest.mark.parametrize("fails", ["", *TOOLS])
def test_style_is_checked_by_every_tool_and_fails_where_any_does(fails, tmp_path):
    for name in TOOLS:
        status = int(name == fails)
        (tmp_path / name).write_text(f"#!/bin/sh\necho {name} >> {tmp_path}/ran\nexit {status}\n")
        (tmp_path / name).chmod(0o755)
    marks = [tmp_path / name for name in ("first", "installed", "tested")]  # all is installed
    for mark in marks:
        mark.touch()
    variables = [f"BIN={tmp_path}", *(f"{mark.name.upper()}={mark}" for mark in marks)]
    done = subprocess.run(
        ["make", "style", *variables],
        cwd=ROOT,
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
    )
    assert (done.returncode == 0) == (not fails)
    assert {*(tmp_path / "ran").read_text().split()} == {*TOOLS}
