"""Generates the leaderboard of the labs, in `docs/labs.md`."""

from pathlib import Path

import pandas as pd

from rungs._src.machine.describe import in_words
from rungs_course.labs import leaderboard
from rungs_course.tables import fill, markdown, with_interval

_LABS = Path("docs") / "labs.md"


def write_leaderboard(root: Path) -> None:
    """Puts the leaderboard into `docs/labs.md`.

    Raises:
        ConfigurationError: see `rungs_course.labs.leaderboard.read`.
    """
    page = root / _LABS
    page.write_text(fill(page.read_text(), {"leaderboard": leaders(root)}))


def leaders(root: Path) -> str:
    """Writes the leaderboard as a table: each lab's answers, by what they gain.

    Raises:
        ConfigurationError: see `rungs_course.labs.leaderboard.read`.
    """
    rows = leaderboard.best(leaderboard.read(leaderboard.path(root)))
    if not rows:
        return "No entries yet.\n"
    table = pd.DataFrame(
        {
            "Lab": [row["lab"] for row in rows],
            "Name": [row["name"] for row in rows],
            "Gain over the baseline": [
                with_interval(*(float(row[f"gain{end}"]) for end in ("", "_low", "_high")))
                for row in rows
            ],
            "Share of the best, or of the bound": [f"{float(row['share']):.0%}" for row in rows],
            "Machine": [in_words(row | {"gpu": row["gpu"] or None}) for row in rows],
            "Date": [row["date"][:10] for row in rows],
        }
    )
    return f"{markdown(table)}\n"
