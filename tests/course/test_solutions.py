"""The solutions, at their smallest size."""

from pathlib import Path

import papermill
import pytest
from jupyter_client import AsyncKernelManager
from jupyter_core.utils import run_sync
from papermill.exceptions import PapermillExecutionError

from rungs_course.runner.notebook import KERNELS

pytestmark = pytest.mark.system

SOLUTIONS = sorted((Path(__file__).parents[2] / "notebooks" / "solutions").glob("*.ipynb"))


@pytest.fixture(scope="module")
def kernel():
    """One kernel for all solutions: they import the same, and C++ is compiled once.

    What that can't see is what depends on a new process: the order of imports, C++ defined twice,
    settings that one notebook leaves to the next. The course itself is run without it.
    """
    kernel = AsyncKernelManager(kernel_name="python3", config=KERNELS)
    run_sync(kernel.start_kernel)(cwd=SOLUTIONS[0].parent)
    yield kernel
    run_sync(kernel.shutdown_kernel)(now=True)


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_every_solution_runs(path, kernel, tmp_path):
    client = kernel.blocking_client()
    client.start_channels()
    client.wait_for_ready()
    client.execute_interactive("%reset_selective -f .")  # %reset takes __spec__ too
    client.stop_channels()
    try:
        papermill.execute_notebook(
            path,
            tmp_path / path.name,
            {"size": "smoke"},
            kernel_name="python3",
            execution_timeout=600,
            progress_bar=False,
            config=KERNELS,
            cwd=path.parent,
            km=kernel,
        )
    except PapermillExecutionError:
        run_sync(kernel.restart_kernel)(now=True)  # whatever state it is in, the next begins anew
        raise
