"""The solutions, at their smallest size."""

import papermill
import pytest
from jupyter_client import AsyncKernelManager
from jupyter_core.utils import run_sync

from rungs_course.runner.notebook import KERNELS
from tests.browser import ROOT

pytestmark = pytest.mark.system

SOLUTIONS = sorted((ROOT / "notebooks" / "solutions").glob("*.ipynb"))


@pytest.fixture(scope="module")
def kernel():
    """One kernel for all solutions: they import the same, and C++ is compiled once.

    What needs a new process, such as the order of imports, is found by the run of the course.
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
    settings = {"kernel_name": "python3", "execution_timeout": 600, "progress_bar": False}
    settings |= {"config": KERNELS, "cwd": path.parent, "km": kernel}
    papermill.execute_notebook(path, tmp_path / path.name, {"size": "smoke"}, **settings)
