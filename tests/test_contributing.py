"""The guide to a new rung leads to one."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text()
STEP = re.compile(r"`([\w/]+\.\w+)`(?:, before `(.+?)`)?:\n\n```\w+\n(.*?)```", re.DOTALL)


@pytest.mark.system
def test_the_guide_leads_to_a_rung(tmp_path):
    for name in ("cpp", "lib", "tests"):
        ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(ROOT / name, tmp_path / name, symlinks=True, ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
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
    command = [sys.executable, "-m", "pytest", "-q", "tests/chess/test_backwards.py"]
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "lib")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
    formatted = [
        Path(sys.executable).parent / "ruff",
        "format",
        "--check",
        "lib/rungs/chess/boards/backwards.py",
    ]
    assert subprocess.run(formatted, cwd=tmp_path).returncode == 0
