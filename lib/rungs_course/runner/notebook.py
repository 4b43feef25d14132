"""One notebook: its parameters and its execution, by papermill, in a kernel of its own."""

import os
from pathlib import Path

import nbformat
import papermill
from nbclient.exceptions import CellControlSignal, DeadKernelError
from papermill.exceptions import PapermillExecutionError
from traitlets.config import Config

from rungs.devel import atomic_write
from rungs.errors import UnavailableError
from rungs_course.errors import NotebookError
from rungs_course.runner.kernel_client import WatchfulClient

_WIDGETS = "application/vnd.jupyter.widget-state+json"
# Kernels listen on loopback; unencrypted, each prints a warning that others there could listen too.
# Shutting a kernel down begins with an interrupt, logged as an error if its last reply isn't sent.
KERNELS = Config(
    {
        "NotebookClient": {"extra_arguments": ["--IPKernelApp.log_level=CRITICAL"]},
        "KernelManager": {
            "transport_encryption": "auto",
            "client_class": f"{WatchfulClient.__module__}.{WatchfulClient.__name__}",
        },
    }
)


def declared_parameters(notebook: Path) -> set[str]:
    """Returns the names that the notebook's `parameters` cell assigns."""
    return set(papermill.inspect_notebook(str(notebook)))


def execute(notebook: Path, executed: Path, parameters: dict, cell_seconds: int, bar: bool) -> None:
    """Runs a notebook in a kernel process of this very interpreter.

    `executed` is written whole or not at all. If a cell fails, the notebook up to it is kept next
    to that file, as `<name>.failed.ipynb`; where a cell raised `UnavailableError`, it is saved as
    executed, up to that cell.
    """
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"  # before a user's kernel of that name
    failed = executed.with_suffix(".failed.ipynb")
    failed.unlink(missing_ok=True)
    with atomic_write(executed) as unfinished:
        lacks = fault = None
        try:
            papermill.execute_notebook(
                notebook,
                unfinished,
                parameters,
                kernel_name="python3",
                execution_timeout=cell_seconds,
                progress_bar={"disable": not bar, "leave": False},
                config=KERNELS,
                # Not `cwd`, which becomes this process's: other threads run notebooks, too.
                resources={"metadata": {"path": str(notebook.parent)}},
            )
            fault = _shown_error(unfinished)
        except (PapermillExecutionError, CellControlSignal, DeadKernelError) as error:
            if getattr(error, "ename", None) == UnavailableError.__name__:
                lacks = error.evalue  # type: ignore[union-attr]  # next to `ename`
            else:
                fault = f"{_cell_reached(unfinished)}: {_reason(error, cell_seconds)}"
        if fault:
            os.replace(unfinished, failed)
            raise NotebookError(f"{notebook.name}, {fault}")
    if lacks:
        raise UnavailableError(lacks)


def _cell_reached(partial: Path) -> str:
    """Returns the last code cell that was begun, as a reader of the notebook finds it."""
    cells = nbformat.read(partial, as_version=4).cells
    code = [
        cell
        for cell in cells
        if cell.cell_type == "code" and "injected-parameters" not in cell.metadata.get("tags", [])
    ]
    begun = [cell for cell in code if cell.metadata["papermill"]["start_time"]]
    if not begun:
        return "before its first cell"
    line = next(iter(begun[-1].source.splitlines()), "")
    return f"code cell {code.index(begun[-1]) + 1} (`{line}` …)"


def _reason(error: Exception, cell_seconds: int) -> str:
    if isinstance(error, PapermillExecutionError):
        return f"{error.ename}: {error.evalue}"
    if isinstance(error, DeadKernelError):
        return "the kernel died"
    return f"the cell took longer than {cell_seconds} s"


def widgets(notebook: nbformat.NotebookNode) -> dict[str, dict]:
    """Returns the state of each widget that a notebook shows, by its model's id."""
    models = notebook.metadata.get("widgets", {}).get(_WIDGETS, {}).get("state", {})
    return {model: model_state["state"] for model, model_state in models.items()}


def _shown_error(executed: Path) -> str | None:
    """Returns the first error that a widget shows: an error in its callback fails no cell."""
    for state in widgets(nbformat.read(executed, as_version=4)).values():
        for output in state.get("outputs", []):
            if output["output_type"] == "error":
                return f"a widget shows {output['ename']}: {output['evalue']}"
    return None
