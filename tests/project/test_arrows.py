"""Who may import and include whom: every arrow points from a later layer to an earlier one."""

import ast
import re
from pathlib import Path

import pytest

from rungs._src import paths
from rungs_course.paths import ROOT

# Packages and modules of the library, below `_src` or public; those of one layer know nothing of
# each other.
PYTHON = (
    ("errors", "paths", "version"),
    ("programs",),
    ("core", "machine"),
    ("threads",),
    ("native", "processes"),
    ("chess", "cartpole", "games", "provenance"),
    ("registry",),
    ("listing",),
    ("__init__",),
    ("search", "conformance"),
    ("train",),
    ("selfplay", "adapters"),
    ("uci",),
    ("cli",),
    ("__main__",),
)
# And of the course, all of whose modules may import the library.
COURSE = (
    ("cartpole", "compiled", "errors", "learners", "machine", "paths", "ready"),
    ("measure", "agents", "cell_cpp", "outline", "uci_games"),
    ("peers",),
    ("labs", "plots", "teams"),
    ("tables", "diagrams", "widgets", "bench"),
    ("notebook", "adapters", "tournament", "rating"),
    ("notebooks",),
    ("dashboard", "doctor", "pages"),
    ("runner",),
    ("playing",),
    ("cli", "__init__"),
    ("__main__",),
)
CPP = (
    ("include", "chess"),
    ("env",),
    ("cartpole",),
    ("rungs",),
    ("learn", "search"),
    ("bindings",),
    ("course",),
)
LIBRARY = ROOT / "lib" / "rungs"
# The modules that only list names; no other module imports them.
PUBLIC = {*LIBRARY.glob("[!_]*.py")} - {LIBRARY / "errors.py", LIBRARY / "version.py"}
DEVEL = {*LIBRARY.glob("devel/*.py")}
TEACHING = ROOT / "lib" / "rungs_course"


def imported(file: Path, package: str = "rungs") -> set[str]:
    """What of a package a module imports, anywhere in it, by the first name below it or `_src`."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text().replace(f"{package}._src", package))):
        if isinstance(node, ast.ImportFrom) and node.module == package:
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{package}."):
            found.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            ours = [alias.name for alias in node.names if alias.name.split(".")[0] == package]
            found |= {name.split(".")[1] if "." in name else "__init__" for name in ours}
    # `rungs` itself passes on what the registry makes.
    return {
        "__init__" if name in ("list", "make", "make_async", "rungs_of") else name for name in found
    }


def included(file: Path, root: Path) -> set[str]:
    """The folders below cpp/ that a header includes files of."""
    names = re.findall(r'^#include "(.+)"', file.read_text(), re.MULTILINE)
    return {(file.parent / name).resolve().relative_to(root).parts[0] for name in names}


def against(arrows: dict[str, set[str]], order) -> list[str]:
    """The arrows that the order refuses, and the places it doesn't know."""
    layer = {name: number for number, names in enumerate(order) for name in names}
    unknown = sorted({*arrows}.union(*arrows.values()) - {*layer})
    return [f"{name} is in no layer" for name in unknown] or [
        f"{name} -> {other}"
        for name, others in sorted(arrows.items())
        for other in sorted(others - {name})
        if layer[other] >= layer[name]
    ]


def gathered(root: Path, pattern: str, read) -> dict[str, set[str]]:
    arrows = {}
    for file in sorted({*root.glob(pattern)} - PUBLIC - DEVEL):
        name = next(part for part in file.relative_to(root).parts if part != "_src")
        arrows.setdefault(name.removesuffix(".py"), set()).update(read(file))
    return arrows


def test_modules_import_only_what_lies_below_them():
    arrows = gathered(LIBRARY, "**/*.py", imported)
    assert arrows
    assert not against(arrows, PYTHON)
    arrows = gathered(TEACHING, "**/*.py", lambda file: imported(file, "rungs_course"))
    assert arrows
    assert not against(arrows, COURSE)


def test_notebooks_modules_import_none_of_another_and_pages_none_of_a_later_notebook():
    modules = [*(TEACHING / "notebooks").glob("nb*.py")]
    pages = [*(ROOT / "notebooks").rglob("[0-9]*.ipynb")]
    assert modules
    assert pages
    imports = re.compile(r'^ *"?(?:from|import) .*\bnb(\d\d)_', re.MULTILINE)
    for module in modules:
        assert {*imports.findall(module.read_text())} <= {module.name[2:4]}, module.name
    for page in pages:
        assert all(name <= page.name for name in imports.findall(page.read_text())), page.name


def test_what_is_private_does_not_import_the_public_modules_made_of_it():
    public = {path.stem for path in PUBLIC} | {"devel"}
    assert PUBLIC
    assert DEVEL
    names = re.compile(r"^\s*(?:from|import) rungs(?:\.(\w+)| import (\w+))", re.MULTILINE)
    files = [*(LIBRARY / "_src").rglob("*.py")]
    assert not public & {a or b for file in files for a, b in names.findall(file.read_text())}


def test_the_library_does_not_know_the_course_which_imports_nothing_private():
    assert not [file for file in LIBRARY.rglob("*.py") if imported(file, "rungs_course")]
    files = [*TEACHING.rglob("*.py"), *(ROOT / "notebooks").rglob("*.ipynb")]
    assert files
    private = re.compile(r'^[ "]*(?:from|import) rungs(?:\._| import .*\b_)', re.MULTILINE)
    assert not [file for file in files if private.search(file.read_text())]


def test_headers_include_only_what_lies_below_them():
    arrows = gathered(paths.CPP, "**/*.[ch]pp", lambda file: included(file, paths.CPP))
    assert arrows
    assert not against(arrows, CPP)


@pytest.mark.parametrize(
    ("arrows", "refused"),
    [
        ({"train": {"chess"}}, []),
        ({"chess": {"train"}}, ["chess -> train"]),
        ({"chess": {"cartpole"}}, ["chess -> cartpole"]),
        ({"chess": {"stray"}}, ["stray is in no layer"]),
    ],
)
def test_an_arrow_against_the_order_is_named(arrows, refused):
    assert against(arrows, PYTHON) == refused
