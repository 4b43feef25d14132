"""The course in outline: what each notebook says about itself, in its metadata."""

import json
from pathlib import Path

from rungs_course import paths

FILES = "[0-9][0-9]*_*"  # of a numbered notebook, and of its tables


def number_of(name: str) -> str:
    """Returns the number, such as "07" or "00a", in the name of a notebook or of its files."""
    return name.partition("_")[0]


def numbered(notebooks: Path) -> dict[str, Path]:
    """Returns the notebooks of a folder by their numbers, in order."""
    return {number_of(path.name): path for path in sorted(notebooks.glob(f"{FILES}.ipynb"))}


def outline() -> dict[str, dict]:
    """Returns `metadata.rungs` of each notebook by its name, such as "07_ladder".

    `title`, in two words; `part` of the course, "climb it", "measure it" or "use it"; its place on
    the `ladder`; what it `shows`; `minutes` in class; what it `needs`, such as "03, MPI"; and the
    `outcome`: what students can do afterwards.
    """
    files = numbered(paths.ROOT / "notebooks").values()
    return {file.stem: json.loads(file.read_text())["metadata"]["rungs"] for file in files}
