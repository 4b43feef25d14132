"""The page that says where each part of the studies is: its links, and that nothing is left out."""

import re
from pathlib import Path

import nbformat
import pytest

from rungs_course.measure import results

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "studies.md"
TEXT = PAGE.read_text()
LINKS = re.findall(r"\]\(([^)#]+)(?:#([^)]+))?\)", TEXT)
PAPER = sorted((ROOT / "data" / "paper").glob("*.csv"))


def anchors(path):
    """What the book calls the headings of a page."""
    cells = nbformat.read(path, 4).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\s-]", "", each.lower()).replace(" ", "-") for each in headings}


@pytest.mark.parametrize(("file", "heading"), dict.fromkeys(LINKS))
def test_every_link_leads_somewhere(file, heading):
    target = (PAGE.parent / file).resolve()
    assert target.is_file()
    assert not heading or heading in anchors(target)


def numbers(kind, text):
    """The figures, tables or equations that rows begin with: "Figures 5 and 6", "2, 3, 5"."""
    rows = re.findall(rf"^\| {kind}s? ([^|]*?)[,|] *(?=[a-z|])", text, re.MULTILINE)
    return {number for row in rows for number in re.findall(r"\d+", row)}


def test_every_figure_table_and_equation_has_a_row():
    chess, cartpole = TEXT.split("## The report on CartPole")
    counts = {("Figure", chess): 9, ("Table", chess): 2, ("Equation", chess): 7}
    for (kind, text), count in (counts | {("Figure", cartpole): 8}).items():
        assert numbers(kind, text) == {str(number + 1) for number in range(count)}


@pytest.mark.parametrize("path", PAPER, ids=lambda path: path.stem)
def test_every_table_of_theirs_names_its_source_and_has_a_row(path):
    table = results.load(path)
    assert table.attrs["provenance"]["source"]
    assert len(table)
    assert f"data/paper/{path.name}" in TEXT
