"""Kernels that are forked: new processes that share nothing, and that nobody leaves behind."""

import os
import select
import signal
import subprocess
import sys
import time

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from rungs_course.errors import NotebookError
from rungs_course.runner.kernels import KernelServer
from rungs_course.runner.notebook import KERNELS, execute

pytestmark = pytest.mark.system


def written(folder, name, *cells):
    path = folder / f"{name}.ipynb"
    parameters = new_code_cell("size = 1", metadata={"tags": ["parameters"]})
    made = new_notebook(cells=[parameters, *map(new_code_cell, cells)])
    made.metadata["kernelspec"] = {"name": "python3", "language": "python", "display_name": ""}
    nbformat.write(made, path)
    return path


def run(server, path):
    done = path.with_suffix(".done.ipynb")
    execute(path, done, {"size": 2}, 60, server.kernel(path.parent, KERNELS))
    return nbformat.read(done, as_version=4).cells


def test_kernels_share_nothing_and_draw(tmp_path):
    first = written(
        tmp_path,
        "first",
        "import os, sys\nimport builtins\nbuiltins.left = 1\nos.environ['LEFT'] = '1'",
        "print(size, os.getcwd(), os.getsid(0) == os.getpid(), 'torch' in sys.modules)",
        "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nNone",
    )
    looks = "import builtins, os\nprint(hasattr(builtins, 'left'), 'LEFT' in os.environ)"
    second = written(tmp_path, "second", looks)
    with KernelServer() as server:
        _, _, _, told, drawn = run(server, first)
        *_, left = run(server, second)
    assert told.outputs[0].text == f"2 {tmp_path} True False\n"
    assert [each.output_type for each in drawn.outputs] == ["display_data"]
    assert "image/png" in drawn.outputs[0].data
    assert left.outputs[0].text == "False False\n"


def test_a_server_that_died_is_an_error_that_says_so(tmp_path):
    kills = "import os, signal, time\nos.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(60)"
    path = written(tmp_path, "kills", kills)
    with KernelServer() as server:
        with pytest.raises(NotebookError, match="kernel died"):
            run(server, path)
        with pytest.raises(NotebookError, match="forked from died"):
            run(server, path)


_RUNS = """
import sys
from pathlib import Path
from tests.course.runner.test_kernels import run
from rungs_course.runner.kernels import KernelServer
with KernelServer() as server:
    run(server, Path(sys.argv[1]))
"""


def test_a_kernel_that_computes_ends_with_whoever_asked_for_it(tmp_path):
    pid = tmp_path / "pid"
    cell = (
        f"import os\nfrom pathlib import Path\nPath({str(tmp_path / 'now')!r}).write_text("
        f"str(os.getpid()))\nos.rename({str(tmp_path / 'now')!r}, {str(pid)!r})\nwhile True: pass"
    )
    asks = subprocess.Popen([sys.executable, "-c", _RUNS, written(tmp_path, "computes", cell)])
    while not pid.exists():
        assert asks.poll() is None
        time.sleep(0.05)
    kernel = os.pidfd_open(int(pid.read_text()))
    asks.send_signal(signal.SIGKILL)
    asks.wait()
    ended, _, _ = select.select([kernel], [], [], 60)
    assert ended
