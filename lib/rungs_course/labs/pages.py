"""A notebook for every lab and the table of all, made of what they say: `make labs`."""

import re
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from rungs_course import paths
from rungs_course.labs.catalogue import labs
from rungs_course.labs.lab import Lab

FOLDER = paths.ROOT / "notebooks" / "labs"
DOC = paths.ROOT / "docs" / "labs.md"
_TABLE = re.compile(r"(<!-- labs -->\n).*(<!-- /labs -->)", re.DOTALL)
_KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def page(lab: Lab) -> nbformat.NotebookNode:
    """Returns a lab's notebook: the task, the stub to go on from, the check, and help."""
    number = lab.notebook.split("_")[0]
    before = (
        f"# Lab {lab.name} · {lab.title}\n\n"
        f"Some {lab.minutes} minutes, after [notebook {number}](../{lab.notebook}.ipynb).\n\n"
        f"{lab.goal}\n\nIt must define: {', '.join(f'`{name}`' for name in lab.defines)}."
    )
    if lab.unit == "s":
        measured = (
            "it is raced against a baseline and the best known solution; the target is "
            f"{lab.target:.0%} of the best known solution's speed."
        )
    else:
        measured = (
            f"its cost is counted, in {lab.unit}, and so are those of a baseline and of the best "
            f"known solution; the target is reached where the latter is {lab.target:.0%} of yours."
        )
    after = (
        "The check plays your code, in a process of its own, against an oracle. Where it is "
        f"wrong, you see what differs first. Where it is right, {measured} Change the cell above "
        "and run both again, as often as you like."
    )
    hint = f'`rungs_course.labs.hint("{lab.name}")`'
    stuck = f"Stuck? {hint} helps in three steps, the last is a solution."
    cells = [
        new_markdown_cell(before),
        new_code_cell("import rungs_course\n\n%load_ext rungs_course"),
        new_code_cell(f"%%rung {lab.name}\n{lab.code('stub').rstrip()}"),
        new_markdown_cell(after),
        new_code_cell(f'rungs_course.check("{lab.name}")'),
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


def filled(page: str) -> str:
    """Returns docs/labs.md, given as it is, with the table of all labs in its place."""
    rows = ["| lab | minutes | notebook | target |", "|---|---|---|---|"]
    for lab in labs().values():
        link = f"[{lab.name}, {lab.title}](../notebooks/labs/{file_of(lab).name})"
        notebook = f"[{lab.notebook.split('_')[0]}](../notebooks/{lab.notebook}.ipynb)"
        measured = "speed" if lab.unit == "s" else f"{lab.unit}, counted"
        target = f"{lab.target:.0%} of the best: {measured}"
        rows.append(f"| {link} | {lab.minutes} | {notebook} | {target} |")
    return _TABLE.sub(lambda match: match[1] + "\n".join(rows) + "\n" + match[2], page)


def write() -> None:
    """Writes all of them, in place of those that were, and the table in docs/labs.md."""
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.ipynb"):
        old.unlink()
    for lab in labs().values():
        nbformat.write(page(lab), file_of(lab))
    DOC.write_text(filled(DOC.read_text()))


if __name__ == "__main__":
    write()
