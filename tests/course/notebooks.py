"""Tiny notebooks for testing the chain."""

import ast

import nbformat
from IPython.core.inputtransformer2 import TransformerManager
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from rungs._src.core.atomic import atomic_write
from rungs._src.machine.describe import describe
from rungs.errors import UnavailableError
from rungs_course import paths
from rungs_course.errors import NotebookError

KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
PARAMETERS = 'size = "quick"\nseed = 0\nout = "out"\nfigures = "figures"'


def write(folder, name, *cells, parameters=PARAMETERS):
    """Writes a notebook of code cells after its parameters."""
    first = new_code_cell(parameters, metadata={"tags": ["parameters"]})
    notebook = new_notebook(
        cells=[new_markdown_cell("# title"), first, *map(new_code_cell, cells)],
        metadata={"kernelspec": KERNEL},
    )
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, folder / f"{name}.ipynb")


def code_of(path):
    """Returns the syntax tree of a notebook's code; magics become calls."""
    cells = nbformat.read(path, as_version=4).cells
    sources = [cell.source for cell in cells if cell.cell_type == "code"]
    return ast.parse("\n".join(map(TransformerManager().transform_cell, sources)))


def from_page(name):
    """Returns what a notebook of the course imports and defines, by name; runs nothing else.

    Its functions look up other names there: what a test puts there is what they use.
    """
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
    page = code_of(paths.ROOT / "notebooks" / f"{name}.ipynb").body
    body = [node for node in page if isinstance(node, kinds)]
    definitions = {}
    exec(compile(ast.Module(body, []), name, "exec"), definitions)
    return definitions


def manifest_of(notebooks, size="full", commit="abc1234"):
    """Returns the manifest of a run of these notebooks on this machine."""
    return {
        **{"machine": describe(), "versions": {"numpy": "2.4.6"}, "commit": commit},
        **{"started": "2026-01-01T00:00:00+00:00", "sources": {}, "expected": {}},
        "settings": {"size": size, "parameters": {}, "cell_seconds": 600},
        "notebooks": notebooks,
    }


def execute(notebook, executed, parameters, cell_seconds, bar):
    """Does as `runner.notebook.execute`, in this process instead of a kernel."""
    failed = executed.with_suffix(".failed.ipynb")
    failed.unlink(missing_ok=True)
    content, names = nbformat.read(notebook, as_version=4), {}
    error = None
    try:
        for cell in content.cells[1:]:
            exec(cell.source, names)
            if "parameters" in cell.metadata.get("tags", []):
                names |= parameters
    except Exception as raised:
        error = raised
    finished = error is None or isinstance(error, UnavailableError)
    with atomic_write(executed if finished else failed) as unfinished:
        nbformat.write(content, unfinished)
    if error:
        raise error if finished else NotebookError(f"{notebook.name}: {error!r}")
