"""Generates the tables of notebooks, in README and `docs/teaching.md`, from their outline; and what
opens the course by a click.
"""

from pathlib import Path

import pandas as pd

from rungs_course.outline import PATH, SHORT, number_of, outline, path_minutes
from rungs_course.pages import one_click
from rungs_course.tables import fill, markdown


def write_course(root: Path) -> None:
    """Writes the generated files below `root`."""
    for name, text in filled(root).items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)


def filled(root: Path) -> dict[str, str]:
    """Returns the pages with tables of notebooks, and the notebooks for Colab, by their names below
    `root`.
    """
    address = one_click.repository(root)
    pages = {
        name: fill(
            (root / name).read_text(),
            {"course": f"{markdown(table)}\n", "one-click": one_click.links(address)},
        )
        for name, table in (("README.md", _contents()), ("docs/teaching.md", _outcomes()))
    }
    return pages | (one_click.notebooks(address, root) if address else {})


def _contents() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "notebook": f"[{number_of(name)} {about['title']}](notebooks/{name}.ipynb)",
            "on the ladder": about["ladder"],
            "what it shows": about["shows"],
        }
        for name, about in outline().items()
    )


def _outcomes() -> pd.DataFrame:
    about = outline()
    minutes = path_minutes(about)
    rows = []
    for name, facts in about.items():
        number = number_of(name)
        link, path = f"[{number}](../notebooks/{name}.ipynb)", "*reference*"
        if number in PATH:
            link, path = f"**{link}**", f"{PATH.index(number) + 1}"
        if number in SHORT:
            path += f": {SHORT[number]}, {minutes[number]} minutes"
        rows.append((link, path, facts["minutes"], facts["needs"], facts["outcome"]))
    columns = ["notebook", "on the path", "minutes", "needs", "afterwards students can"]
    return pd.DataFrame(rows, columns=columns)
