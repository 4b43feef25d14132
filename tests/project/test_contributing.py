"""The guide to a new rung leads to one."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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
    assert len(steps) == 6
    for name, before, text in steps:
        file = tmp_path / name
        if before:
            old = file.read_text()
            assert old.count(before) == 1, before
            file.write_text(old.replace(before, text + before))
        else:
            assert not file.exists()
            file.write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "tests/library/chess/test_backwards.py"]
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "lib"), "RUNGS_COMPILER": "cling"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
    written = {name for name, _, _ in steps}
    python = sorted(name for name in written if name.endswith(".py"))
    cpp = sorted(name for name in written if name.endswith((".hpp", ".cpp")))
    assert len(python + cpp) == len(written)
    for check in (  # of `make check`
        ["ruff", "check", *python],
        ["ruff", "format", "--check", *python],
        ["clang-format", "--dry-run", "--Werror", *cpp],
    ):
        command = [Path(sys.executable).parent / check[0], *check[1:]]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("fails", ["", "ruff", "nbstripout", "ruff python clang-format"])
def test_a_check_runs_every_tool_and_fails_where_any_does(fails, tmp_path):
    tools = ("ruff", "python", "clang-format", "nbstripout")
    for name in tools:
        status = int(name in fails.split())
        (tmp_path / name).write_text(f"#!/bin/sh\necho {name} >> {tmp_path}/ran\nexit {status}\n")
        (tmp_path / name).chmod(0o755)
    marks = [f"{name}={tmp_path / name.lower()}" for name in ("INSTALLED", "TESTED")]
    for mark in marks:
        Path(mark.partition("=")[2]).touch()  # as after an installation
    done = subprocess.run(
        ["make", "check", f"BIN={tmp_path}", *marks], cwd=ROOT, capture_output=True
    )
    assert (done.returncode == 0) == (not fails)
    assert {*(tmp_path / "ran").read_text().split()} == {*tools}
