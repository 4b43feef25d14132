"""The pages tell the truth: their Python runs, links lead somewhere, no name lacks an example."""

import ast
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
    r"import (jax|torch)\b|stable_baselines3|sb3|torchrl|\bray\b|rllib|tianshou|rungs\.train"
    r"|\"cuda\""
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


PUBLIC = llms.public()


def public_names(module: str) -> list[str]:
    """The functions and classes of a module, and the methods that its classes write themselves.

    One example stands for all errors.
    """
    names = []
    for node in ast.parse(llms.source_of(module).read_text()).body:
        error = node.name.endswith(("Error", "Warning")) if hasattr(node, "name") else True
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not (error or node.name[0] == "_"):
            names.append(node.name)
            inner = node.body if isinstance(node, ast.ClassDef) else []
            methods = [each.name for each in inner if isinstance(each, ast.FunctionDef)]
            names += [name for name in methods if not name.startswith("_")]
    return names


def test_what_users_call_is_public():
    library = (DOCS / "api" / "environments.md").read_text() + (
        DOCS / "api" / "index.md"
    ).read_text()
    assert {*re.findall(r"automodule:: (\S+)", library)} <= {*PUBLIC}
    adapters = (ROOT / "lib" / "rungs" / "adapters").glob("[!_]*.py")
    assert {f"rungs.adapters.{path.stem}" for path in adapters} <= {*PUBLIC}
    assert {"rungs._src.registry", "rungs._src.train.training", "rungs_course.measure.race"} <= {
        *PUBLIC
    }


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_has_an_example(module):
    for name in public_names(module):
        assert re.search(rf"\b{name}\b", PUBLIC[module]), f"{module}.{name} has no example"


def test_one_page_has_all_public_names():
    page = llms.page()
    for module in PUBLIC:
        for name in public_names(module):
            assert re.search(rf"^### .*\b{name}\b", page, re.MULTILINE), (module, name)


@pytest.mark.system
def test_the_single_file_learns(tmp_path):
    script = [sys.executable, DOCS / "howto" / "ppo_chess.py", "--num-envs", "16"]
    settings = ["--num-steps", "8", "--max-plies", "20", "--total-timesteps", "1024"]
    done = subprocess.run([*script, *settings], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "update 8, " in done.stdout
