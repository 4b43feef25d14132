"""The pages tell the truth: their Python runs, links lead somewhere, no name lacks an example."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rungs.errors import UnavailableError
from rungs_course.runner import llms

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*(DOCS / "howto").glob("*.md"), *(DOCS / "api").glob("*.md")])
BLOCK = re.compile(r"^```python( continued)?\n(.*?)^```", re.DOTALL | re.MULTILINE)

# What these bring takes long to import or to compile.
HEAVY = re.compile(
    r"import (jax|torch)|stable_baselines3|sb3|torchrl|ray|rllib|tianshou|\"cuda\""
    r"|rungs\.(train|selfplay)"
)


def blocks(page: Path) -> list[str]:
    """The Python of a page, each block with those that it continues."""
    found: list[str] = []
    for continued, code in BLOCK.findall(page.read_text()):
        found.append(found[-1] + code if continued else code)
    return found


def examples() -> list:
    """All blocks but those that another continues, which runs them."""
    chosen = []
    for page in PAGES:
        codes = blocks(page)
        for i, code in enumerate(codes):
            if i + 1 < len(codes) and codes[i + 1].startswith(code):
                continue
            marks = [pytest.mark.system] if HEAVY.search(code) else []
            name = f"{page.parent.name}/{page.stem}-{i}"
            chosen.append(pytest.param(code, id=name, marks=marks))
    return chosen


@pytest.mark.parametrize("code", examples())
def test_its_python_runs(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = dict(os.environ)
    try:
        exec(compile(code, "<a page>", "exec"), {"__name__": "__main__"})
    except UnavailableError as error:
        pytest.skip(str(error))
    except ModuleNotFoundError as error:
        pytest.skip(f"{error.name} is not installed")
    finally:
        os.environ.clear()
        os.environ.update(before)
        if ray := sys.modules.get("ray"):  # RLlib's, which it leaves to the end of the program
            ray.shutdown()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_its_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        if not link.startswith("<"):
            assert (page.parent / link).exists(), link


PUBLIC, EXAMPLES = llms.public(), llms.examples()


def test_every_public_module_has_its_place_in_the_reference():
    modules = {path.stem for path in (ROOT / "lib" / "rungs").glob("[!_]*.py")} - {"version"}
    assert {f"rungs.{name}" for name in modules} | {"rungs", "rungs.adapters.sb3"} <= {*PUBLIC}
    assert {*EXAMPLES} == {*PUBLIC}
    assert "_src" not in "".join(page.read_text() for page in (DOCS / "api").glob("[!i]*.md"))


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_has_an_example(module):
    """One stands for all errors."""
    names = [name for name in PUBLIC[module] if not name.endswith(("Error", "Warning"))]
    assert names
    for name in names:
        assert re.search(rf"\b{name}\b", EXAMPLES[module]), f"{module}.{name} has no example"


@pytest.mark.parametrize(
    "module",
    [
        pytest.param(name, marks=[pytest.mark.system] if HEAVY.search(name) else [])
        for name in PUBLIC
    ],
)
def test_every_public_name_can_be_imported(module):
    try:
        imported = importlib.import_module(module)
    except (ModuleNotFoundError, UnavailableError) as error:
        if not module.startswith("rungs.adapters."):
            raise
        pytest.skip(str(error))
    assert imported.__all__ == PUBLIC[module]
    assert all(hasattr(imported, name) for name in imported.__all__)


def test_one_page_has_all_public_names():
    page = llms.page()
    for module, names in PUBLIC.items():
        for name in names:
            assert re.search(rf"^### .*\b{name}\b", page, re.MULTILINE), (module, name)


@pytest.mark.system
def test_the_single_file_learns(tmp_path):
    script = [sys.executable, DOCS / "howto" / "ppo_chess.py", "--num-envs", "16"]
    settings = ["--num-steps", "8", "--max-plies", "20", "--total-timesteps", "1024"]
    done = subprocess.run([*script, *settings], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "update 8, " in done.stdout
