"""The solutions, at their smallest size."""

import contextlib
from pathlib import Path

import pytest
from jupyter_core.utils import run_sync

from rungs_course.errors import NotebookError
from rungs_course.runner import notebook

pytestmark = pytest.mark.system

SOLUTIONS = sorted((Path(__file__).parents[3] / "notebooks" / "solutions").glob("*.ipynb"))


@pytest.fixture(scope="module")
def kernel():
    """One kernel for all solutions: they import the same, and C++ is compiled once.

    What that can't see is what depends on a new process: the order of imports, C++ defined twice,
    settings that one notebook leaves to the next. The course itself is run without it.
    """
    with notebook.shared_kernel(SOLUTIONS[0].parent) as kernel:
        yield kernel


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_every_solution_runs(path, kernel, tmp_path):
    try:
        notebook.execute(
            path, tmp_path / path.name, {"size": "smoke"}, 600, contextlib.nullcontext(kernel)
        )
    except NotebookError:
        run_sync(kernel.restart_kernel)(now=True)  # whatever state it is in, the next begins anew
        raise
