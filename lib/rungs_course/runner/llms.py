"""The reference of all public names in one page of plain text, `llms.txt` of the book."""

import ast
import importlib
import inspect
import re
from pathlib import Path

from rungs_course import paths

API = paths.ROOT / "docs" / "api"
_LIB = paths.ROOT / "lib"
_HEAD = """# Rungs

> Fast, exact reinforcement-learning environments (chess, CartPole), the same, bit for bit, from
> Python to CUDA.

`rungs.make("chess", rung="threads", num_envs=512, opponent="random")` is a vector environment of
Gymnasium's. What follows are all public names: for each module the examples that the tests run,
then what each name says of itself.
"""

# A section of docs/api: its module, and what comes before the module's members.
_SECTION = re.compile(r"^## (rungs\S*)\n\n(.*?)```\{eval-rst\}", re.DOTALL | re.MULTILINE)


def public() -> dict[str, list[str]]:
    """Returns the names in `__all__` of each public module."""
    library = _LIB / "rungs"
    files = [library / "__init__.py", *library.glob("[!_]*.py"), *library.glob("adapters/[!_]*.py")]
    modules = {_module_of(file): _names_in(file) for file in files if file.name != "version.py"}
    return dict(sorted(modules.items()))


def examples() -> dict[str, str]:
    """Returns what stands above the members of each module in the reference, as Markdown."""
    pages = re.findall(r"^(\w+)$", (API / "index.md").read_text(), re.MULTILINE)
    texts = [(API / f"{page}.md").read_text() for page in pages]
    return {module: above.strip() for text in texts for module, above in _SECTION.findall(text)}


def page() -> str:
    """Returns the page, made of the examples and the docstrings as they stand in the source."""
    names, parts = public(), [_HEAD]
    for module, above in examples().items():
        docstring = ast.get_docstring(_tree(_file_of(module))) or ""
        parts += [f"## {module}", docstring, above]
        parts += [_described(module, name) for name in names[module]]
    return "\n\n".join(part.rstrip() for part in parts if part) + "\n"


def _module_of(file: Path) -> str:
    return ".".join(file.relative_to(_LIB).with_suffix("").parts).removesuffix(".__init__")


def _file_of(module: str) -> Path:
    path = _LIB / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text())


def _names_in(file: Path) -> list[str]:
    for node in _tree(file).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return ast.literal_eval(node.value)
    return []


def _described(module: str, name: str) -> str:
    """Returns the signature and docstring of a name, from the module that defines it."""
    for node in _tree(_file_of(module)).body:
        if isinstance(node, ast.ImportFrom) and any(each.name == name for each in node.names):
            return _described(str(node.module), name)
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            text = _member(node, "")
            if "documented" in map(ast.unparse, node.decorator_list):
                # The decorator adds what its fields mean to its docstring.
                made = getattr(importlib.import_module(module), name)
                text = text.replace(ast.get_docstring(node) or "", inspect.getdoc(made) or "")
            return text
    return f"### {name}"


def _member(node: ast.FunctionDef | ast.ClassDef, owner: str) -> str:
    if isinstance(node, ast.FunctionDef):
        head = f"### {owner}{node.name}({ast.unparse(node.args)})"
        return f"{head}\n\n{ast.get_docstring(node) or ''}"
    methods = [
        _member(each, f"{node.name}.")
        for each in node.body
        if isinstance(each, ast.FunctionDef) and not each.name.startswith("_")
    ]
    return "\n\n".join([f"### class {node.name}", ast.get_docstring(node) or "", *methods])
