"""The course in outline: what each notebook says about itself, in its metadata."""

import json
from pathlib import Path

from rungs_course import paths

FILES = "[0-9][0-9]*_*"  # of a numbered notebook, and of its tables

# The path of six hours, in order; of some notebooks only a part. The others are reference.
PATH = ("00", "00a", "01", "02", "03", "17", "04", "08", "10", "15")
SHORT = {"17": "the ladder of versions", "04": "pragma and barrier", "08": "peaks and our rungs"}
SHORT_MINUTES = 20


def number_of(name: str) -> str:
    """Returns the number, such as "07" or "00a", in the name of a notebook or of its files."""
    return name.partition("_")[0]


def numbered(notebooks: Path) -> dict[str, Path]:
    """Returns the notebooks of a folder by their numbers, in order."""
    return {number_of(path.name): path for path in sorted(notebooks.glob(f"{FILES}.ipynb"))}


def path_minutes(about: dict[str, dict]) -> dict[str, int]:
    """Returns the minutes of each notebook on the path, by its number, from `outline`."""
    minutes = {number_of(name): facts["minutes"] for name, facts in about.items()}
    return {number: SHORT_MINUTES if number in SHORT else minutes[number] for number in PATH}


def outline() -> dict[str, dict]:
    """Returns `metadata.rungs` of each notebook by its name, such as "07_ladder".

    `title`, in two words; `part` of the course, "climb it", "measure it" or "use it"; its place on
    the `ladder`; what it `shows`; `minutes` in class; what it `needs`, such as "03, MPI"; and the
    `outcome`: what students can do afterwards.
    """
    files = numbered(paths.ROOT / "notebooks").values()
    return {file.stem: json.loads(file.read_text())["metadata"]["rungs"] for file in files}
