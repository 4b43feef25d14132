"""The course in outline: what each notebook says about itself, in its metadata."""

import json

from rungs_course import paths


def outline() -> dict[str, dict]:
    """Returns `metadata.rungs` of each notebook by its name, such as "07_ladder".

    `title`, in two words; `part` of the course, "climb it", "measure it" or "use it"; its place on
    the `ladder`; what it `shows`; `minutes` in class; what it `needs`, such as "03, MPI"; and the
    `outcome`: what students can do afterwards.
    """
    files = sorted((paths.ROOT / "notebooks").glob("[0-9]*.ipynb"))
    return {file.stem: json.loads(file.read_text())["metadata"]["rungs"] for file in files}
