"""Generates what opens the course by a click, once `pyproject.toml` says where it is published:
README's links, and the notebooks for Colab, which clone it and install what Colab lacks.
"""

import re
import tomllib
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

_HOST = "https://github.com/"
_FIRST = "notebooks/00_start_here.ipynb"
_COLAB = "notebooks/colab"
_INSTALL = """# First run this: it clones Rungs, and installs what Colab lacks.
import sys

!git clone --quiet {address} rungs
!pip install --quiet --editable {packages}
%cd rungs/notebooks
sys.path.insert(0, "../lib")"""
_RUNGS = "./rungs"  # with a slash: a package index calls another project `rungs`
# Notebooks that Colab opens, and what they need that Colab lacks.
_PACKAGES = {
    "00_start_here": _RUNGS,
    "00a_one_page": f"{_RUNGS} cppyy tree-sitter tree-sitter-cpp",
    "library": _RUNGS,
}


def repository(root: Path) -> str:
    """Returns the course's address on GitHub; "" if it is not published there."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    address = project.get("urls", {}).get("Repository", "")
    return address if address.startswith(_HOST) else ""


def links(address: str) -> str:
    """Writes README's line of links."""
    if not address:
        return "In Codespaces, Binder or Colab: [one click](docs/install.md#one-click).\n"
    name = address.removeprefix(_HOST)
    binder = f"https://mybinder.org/v2/gh/{name}/main?urlpath=lab/tree/{_FIRST}"
    colab = f"https://colab.research.google.com/github/{name}/blob/main/{_COLAB}"
    return (
        f"[One click](docs/install.md#one-click): [Codespaces](https://codespaces.new/{name}), "
        f"[Binder]({binder}), or in Colab [00]({colab}/00_start_here.ipynb), "
        f"[00a]({colab}/00a_one_page.ipynb) and [the library]({colab}/library.ipynb).\n"
    )


def notebooks(address: str, root: Path) -> dict[str, str]:
    """Returns the notebooks for Colab by their names below `root`."""
    made = {}
    for name, packages in _PACKAGES.items():
        notebook = (
            _ten_lines(root)
            if name == "library"
            else nbformat.read(root / f"notebooks/{name}.ipynb", 4)
        )
        for cell in notebook.cells:
            if cell.cell_type == "markdown":  # Colab knows no other files
                there = f"]({address}/blob/main/notebooks/"
                cell.source = re.sub(r"\]\((?!https:|#)", there, cell.source)
        install = _INSTALL.format(address=address, packages=packages)
        notebook.cells.insert(0, new_code_cell(install))
        for i, cell in enumerate(notebook.cells):
            cell.id = str(i)
        made[f"{_COLAB}/{name}.ipynb"] = nbformat.writes(notebook) + "\n"
    return made


def _ten_lines(root: Path) -> nbformat.NotebookNode:
    """Returns the beginning of the library's page as a notebook."""
    page = (root / "docs" / "library.md").read_text()
    title, code = re.findall(r"\A(.+?)\n+```python\n(.+?)\n```", page, re.DOTALL)[0]
    return new_notebook(cells=[new_markdown_cell(title), new_code_cell(code)])
