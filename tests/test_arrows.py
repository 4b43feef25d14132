"""Who may import and include whom: every arrow points from a later layer to an earlier one."""

import ast
import re
from pathlib import Path

import pytest

from rungs import paths

# Packages and modules of lib/rungs; those of one layer know nothing of each other.
PYTHON = (
    ("errors", "paths", "version"),
    ("core", "machine"),
    ("compile", "processes"),
    ("chess", "cartpole"),
    ("registry",),
    ("adapters", "measure", "search"),
    ("train",),
    ("selfplay",),
    ("peers",),
    ("conformance",),
    ("studies",),
    ("labs",),
    ("show", "doctor"),
    ("course",),
    ("cli",),
    ("__main__",),
)
CPP = (
    ("chess", "cartpole", "machine"),
    ("env",),
    ("rungs",),
    ("steps", "learn", "search"),
    ("bindings",),
    ("course",),
    ("bench",),
)
LIBRARY = Path(paths.__file__).parent


def layers(order: tuple[tuple[str, ...], ...]) -> dict[str, int]:
    return {name: number for number, names in enumerate(order) for name in names}


def imported(file: Path) -> set[str]:
    """What of `rungs` a module imports, anywhere in it, by the first name below `rungs`."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "rungs":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module.startswith("rungs."):
            found.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            ours = [alias.name for alias in node.names if alias.name.split(".")[0] == "rungs"]
            found |= {name.split(".")[1] if "." in name else "registry" for name in ours}
    # `rungs` itself passes on what the registry makes.
    return {"registry" if name in ("make", "make_async", "rungs_of") else name for name in found}


def included(file: Path, root: Path) -> set[str]:
    """The folders below cpp/ that a header includes files of."""
    names = re.findall(r'^#include "(.+)"', file.read_text(), re.MULTILINE)
    return {(file.parent / name).resolve().relative_to(root).parts[0] for name in names}


def against(arrows: dict[str, set[str]], order) -> list[str]:
    """The arrows that the order refuses, and the places it doesn't know."""
    layer = layers(order)
    unknown = [
        f"{name} is in no layer" for name in sorted({*arrows}.union(*arrows.values()) - {*layer})
    ]
    return unknown or [
        f"{name} -> {other}"
        for name, others in sorted(arrows.items())
        for other in sorted(others - {name})
        if layer[other] >= layer[name]
    ]


def gathered(root: Path, pattern: str, read) -> dict[str, set[str]]:
    arrows = {}
    for file in sorted(root.glob(pattern)):
        name = file.relative_to(root).parts[0].removesuffix(".py")
        arrows.setdefault(name, set()).update(read(file))
    return arrows


def test_modules_import_only_what_lies_below_them():
    arrows = gathered(LIBRARY, "**/*.py", imported)
    del arrows["__init__"]  # the package's face, which shows what is made at all heights
    assert len(arrows) > 15
    assert not against(arrows, PYTHON)


def test_headers_include_only_what_lies_below_them():
    arrows = gathered(paths.CPP, "**/*.[ch]pp", lambda file: included(file, paths.CPP))
    assert len(arrows) > 4
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
