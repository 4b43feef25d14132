"""The course itself, and its solutions, at their smallest size."""

from pathlib import Path

import pytest

from rungs.course import manifest, notebook

SOLUTIONS = sorted((Path(__file__).parents[2] / "notebooks" / "solutions").glob("*.ipynb"))


def test_every_notebook_runs_from_top_to_bottom(smoke):
    numbers = [path.name[:2] for path in sorted((smoke / "notebooks").glob("*.ipynb"))]
    assert numbers == [f"{number:02}" for number in range(16)]
    entries = manifest.read(smoke)["notebooks"]
    for number in [name[:2] for name, entry in entries.items() if entry["status"] == "done"]:
        assert list((smoke / "results").glob(f"{number}_*.csv")), number
        assert list((smoke / "figures").glob(f"{number}_*.png")), number


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_every_solution_runs(path, tmp_path):
    notebook.execute(path, tmp_path / path.name, {"size": "smoke"}, 300)
