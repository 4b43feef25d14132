"""The reference of all public names in one page of plain text, `llms.txt` of the book."""

import ast
import re
from pathlib import Path

from rungs_course import paths

API = paths.ROOT / "docs" / "api"
_HEAD = """# Rungs

> Fast, exact reinforcement-learning environments (chess, CartPole), the same, bit for bit, from
> Python to CUDA.

`rungs.make("chess", rung="threads", num_envs=512, opponent="random")` is a vector environment of
Gymnasium's. What follows are all public names: for each module an example that the tests run, then
what it says of itself.
"""

# A module of docs/api with an example above its members: its name, and the page's text before them.
_PUBLIC = re.compile(r"^## (\S+)\n\n(```python\n.*?)```\{eval-rst\}", re.DOTALL | re.MULTILINE)


def public() -> dict[str, str]:
    """Returns the examples of all public modules by their names, as Markdown, page by page."""
    index = (API / "index.md").read_text()
    pages = re.findall(r"^(\w+)$", index.split("{toctree}")[1], re.MULTILINE)
    found: dict[str, str] = {}
    for page in pages:
        for section in re.split(r"^(?=## )", (API / f"{page}.md").read_text(), flags=re.MULTILINE):
            if match := _PUBLIC.match(section):
                found[match[1]] = match[2].strip()
    return found


def page() -> str:
    """Returns the page, made of the examples and the docstrings as they stand in the source."""
    return "\n".join([_HEAD, *(_module(name, example) for name, example in public().items())])


def _module(name: str, example: str) -> str:
    tree = ast.parse(source_of(name).read_text())
    parts = [f"## {name}", ast.get_docstring(tree) or "", example]
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            parts.append(_member(node, ""))
    return "\n\n".join(part for part in parts if part) + "\n"


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


def source_of(module: str) -> Path:
    """Returns the file of a module of ours: `source_of("rungs._src.chess.actions")`."""
    path = paths.ROOT / "lib" / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
