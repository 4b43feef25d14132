"""A notebook for every lab, made of what the lab says: `python -m rungs.labs.pages`."""

from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from rungs import paths
from rungs.labs.catalogue import labs
from rungs.labs.lab import Lab

FOLDER = paths.ROOT / "notebooks" / "labs"
_KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def page(lab: Lab) -> nbformat.NotebookNode:
    """Returns a lab's notebook: the task, the stub to go on from, the check, and help."""
    number = lab.notebook.split("_")[0]
    before = (
        f"# Lab {lab.name} · {lab.title}\n\n"
        f"Some {lab.minutes} minutes, after [notebook {number}](../{lab.notebook}.ipynb).\n\n"
        f"{lab.goal}\n\nIt must define: {', '.join(f'`{name}`' for name in lab.defines)}."
    )
    after = (
        "The check plays your code, in a process of its own, against an oracle. Where it is "
        "wrong, you see what differs first. Where it is right, it is raced against a baseline and "
        f"the best known solution; the target is {lab.target:.0%} of the best. Change the cell "
        "above and run both again, as often as you like."
    )
    stuck = f'Stuck? `rungs.labs.hint("{lab.name}")` helps in three steps, the last is a solution.'
    cells = [
        new_markdown_cell(before),
        new_code_cell("import rungs\n\n%load_ext rungs"),
        new_code_cell(f"%%rung {lab.name}\n{lab.code('stub').rstrip()}"),
        new_markdown_cell(after),
        new_code_cell(f'rungs.check("{lab.name}")'),
        new_markdown_cell(stuck),
    ]
    for place, cell in enumerate(cells):
        cell.id = str(place)
    return new_notebook(
        cells=cells, metadata={"kernelspec": _KERNEL, "language_info": {"name": "python"}}
    )


def file_of(lab: Lab) -> Path:
    """Returns where a lab's notebook is."""
    return FOLDER / f"{lab.name}_{lab.folder.name}.ipynb"


def write() -> None:
    """Writes all of them, in place of those that were."""
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.ipynb"):
        old.unlink()
    for lab in labs().values():
        nbformat.write(page(lab), file_of(lab))


if __name__ == "__main__":
    write()
