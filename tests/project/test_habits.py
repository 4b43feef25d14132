"""The house rules that a machine can check."""

import ast
import functools
import importlib.metadata
import itertools
import os
import re
import symtable
import tomllib
from pathlib import Path

import nbformat
import pytest
import yaml
from IPython.core.inputtransformer2 import TransformerManager
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from rungs._src.registry import rungs_of
from rungs_course.labs.lab import labs
from tests.processes import succeed

ROOT = Path(__file__).parents[2]
COURSE = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
SOLUTIONS = sorted((ROOT / "notebooks" / "solutions").glob("*.ipynb"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def tracked(*patterns):
    command = ["git", "-C", str(ROOT), "ls-files", "--", *patterns]
    return [path for name in succeed(command).splitlines() if (path := ROOT / name).exists()]


def dependencies():
    """What others bring, of the project and all its extras; CUDA's libraries are PyTorch's."""
    extras = PROJECT["optional-dependencies"]
    every = map(Requirement, {*PROJECT["dependencies"], *itertools.chain(*extras.values())})
    return [each for each in every if each.name not in ("rungs-rl", "cuda-toolkit")]


@functools.cache
def notebooks_of_labs():
    """The names of the labs' notebooks, each with the notebook that it belongs to."""
    return [(lab.notebook.name, lab.head().notebook) for lab in labs().values()]


def is_bound(symbol):
    return symbol.is_assigned() or symbol.is_imported()


@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)
class TestNotebook:
    def test_its_parameters_are_one_cell_of_plain_literals_that_are_read_and_stay(self, path):
        cells = [cell for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
        (first,) = [cell for cell in cells if "parameters" in cell.metadata.get("tags", [])]
        names, read = set(), set()
        for statement in ast.parse(first.source).body:
            assert isinstance(statement, ast.Assign), first.source
            ast.literal_eval(statement.value)
            names.add(statement.targets[0].id)
        assert {"size", "seed", "out", "figures"} <= names
        for cell in cells:
            if cell is first:
                continue
            code = TransformerManager().transform_cell(cell.source)  # without magics
            table = symtable.symtable(code, path.stem, "exec")
            bound = {each.get_name() for each in table.get_symbols() if is_bound(each)}
            assert not names & bound, cell.source
            nodes = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)]
            read |= {node.id for node in nodes if isinstance(node.ctx, ast.Load)}
        assert names <= read

    def test_it_links_its_labs_and_the_answers_to_its_exercises(self, path):
        last = nbformat.read(path, 4).cells[-1].source
        for name, notebook in notebooks_of_labs():
            assert notebook != path.stem or f"](labs/{name})" in last
        assert f"](solutions/{path.name})" in last.split("## Exercises")[1]

    def test_its_questions_have_one_right_answer_and_explain_every_choice(self, path):
        (cell,) = [c for c in nbformat.read(path, 4).cells if c.source.startswith("## Questions")]
        questions = re.split(r"^\*\*.+\*\*$", cell.source, flags=re.MULTILINE)[1:]
        assert questions
        for question in questions:
            answers = re.findall(r"<details><summary>.+</summary>(.+)</details>", question)
            assert len(answers) == question.count("<summary>")
            assert sum(answer.startswith("Right") for answer in answers) == 1


def test_dependencies_are_ranges_with_the_lock_within():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    locked = {canonicalize_name(line.split("==")[0]): line.split("==")[1] for line in lines}
    for each in dependencies():
        assert {limit.operator for limit in each.specifier} == {">=", "<"}, each
        assert each.specifier.contains(locked[canonicalize_name(each.name)]), each


def test_the_lock_fits_the_oldest_python():
    oldest = PROJECT["requires-python"].removeprefix(">=") + ".0"
    for package in importlib.metadata.distributions():
        accepted = SpecifierSet(package.metadata["Requires-Python"] or "")
        assert accepted.contains(oldest), package.name


def test_conda_users_get_every_extra():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    (pip,) = [entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict)]
    # One is in others, one needs a GPU.
    extras = sorted({*PROJECT["optional-dependencies"]} - {"cling", "gpu"})
    assert pip == ["--constraint constraints.txt", f"--editable .[{','.join(extras)}]"]


def test_nothing_names_this_machine_or_a_registry():
    # Spelt apart, so that this file doesn't name them; shorter paths are parts of others.
    words = ["pypi" + ".org", "pythonhosted" + ".org"]
    words += [str(path) for path in (Path.home(), ROOT) if len(path.parts) > 3]
    for path in tracked("*.py", "*.md", "*.toml", "*.yml", "*.txt", "*.ipynb", "*.csv", "Makefile"):
        text = path.read_text()
        assert not [word for word in words if word in text], path


def test_every_extra_that_is_advised_exists():
    extras, found = PROJECT["optional-dependencies"], set()
    for path in tracked("lib/*.py", "*.md", "*.ipynb"):
        text = path.read_text()
        advised = re.findall(r"'(?:\.|\S+\.whl)\[([\w,]+)\]'", text)
        advised += re.findall(r"""(?:install_hint\(|extra=)["'](\w+)["']""", text)
        assert {name for names in advised for name in names.split(",")} <= set(extras), path
        found |= {*advised}
    assert found
    assert {rung.extra for env in ("chess", "cartpole") for rung in rungs_of(env)} <= {"", *extras}


def test_no_page_or_message_installs_another_project():
    # What a package index calls `rungs` is not ours.
    for path in tracked("*.py", "*.md", "*.ipynb", "*.toml", "*.yml", "Makefile"):
        text = path.read_text()
        assert not re.search(r"pip install[^\n]*['\" ]rungs(?![\w./-])", text), path
        assert not re.search(r"['\"]rungs\[\w", text), path


def test_every_extra_has_a_line_on_the_page_that_says_how_to_install():
    table = (ROOT / "docs" / "install.md").read_text().split("## Extras")[1]
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    named = {name for line in lines for name in re.findall(r"`(\w+)`", line.split("|")[1])}
    assert {*PROJECT["optional-dependencies"]} <= named


def test_the_workflow_runs_what_is_there():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "course.yml").read_text())["jobs"]
    commands = [
        step["run"].split()[0] for job in jobs.values() for step in job["steps"] if "run" in step
    ]
    scripts = {ROOT / command for command in commands if "/" in command}
    assert scripts == {ROOT / ".ci" / "course", ROOT / ".ci" / "run"}
    assert all(os.access(script, os.X_OK) for script in scripts)


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_solutions_answer_the_questions_that_are_asked(path):
    asked = nbformat.read(ROOT / "notebooks" / path.name, 4).cells[-1].source
    exercises = re.findall(r"^\d\. (.*)$", asked.split("## Exercises")[1], re.MULTILINE)
    text = "\n".join(cell.source for cell in nbformat.read(path, 4).cells)
    quoted = re.findall(r"^> (.*)$", text.replace("](../", "]("), re.MULTILINE)
    assert quoted == exercises
