"""Tiny notebooks for testing the chain."""

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

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
