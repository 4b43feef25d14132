"""One notebook: its parameters and its execution in a kernel of its own."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import nbformat
import papermill
from ipykernel.kernelspec import write_kernel_spec
from jupyter_client import AsyncKernelManager
from jupyter_core.utils import run_sync
from nbclient.exceptions import CellControlSignal, DeadKernelError
from papermill.exceptions import PapermillExecutionError
from traitlets.config import Config

from rungs._src.core.atomic import atomic_write
from rungs.errors import UnavailableError
from rungs_course.errors import NotebookError
from rungs_course.show.client import WatchfulClient

_WIDGETS = "application/vnd.jupyter.widget-state+json"
# Kernels listen on loopback; unencrypted, each prints a warning that others there could listen too.
KERNELS = Config(
    {
        "KernelManager": {
            "transport_encryption": "auto",
            "client_class": f"{WatchfulClient.__module__}.{WatchfulClient.__name__}",
        }
    }
)


def declared_parameters(notebook: Path) -> set[str]:
    """Returns the names that the notebook's `parameters` cell assigns."""
    return set(papermill.inspect_notebook(str(notebook)))


def execute(
    notebook: Path,
    executed: Path,
    parameters: dict,
    cell_seconds: int,
    kernel: AbstractContextManager[AsyncKernelManager] | None = None,
) -> None:
    """Runs a notebook in a kernel process of this very interpreter.

    Args:
        notebook: what to run.
        executed: where the notebook with its outputs goes, whole or not at all; where it fails, it
            is kept up to the failure beside that, as `<name>.failed.ipynb`.
        parameters: values for its `parameters` cell.
        cell_seconds: the longest any cell may take.
        kernel: gives one to run it in, where what others have left is forgotten; by default it gets
            one of its own.

    Raises:
        UnavailableError: a cell raised one: this machine lacks what the rest is about. The notebook
            is there, up to that cell.
        NotebookError: a cell failed or took too long, a widget shows an error, or the kernel died.
    """
    failed = executed.with_suffix(".failed.ipynb")
    failed.unlink(missing_ok=True)
    lacks = None
    with (
        atomic_write(executed) as unfinished,
        _own_kernel(),
        kernel or contextlib.nullcontext() as manager,
    ):
        if manager:
            _forget(manager)
        try:
            papermill.execute_notebook(
                notebook,
                unfinished,
                parameters,
                kernel_name="python3",
                execution_timeout=cell_seconds,
                progress_bar=False,
                config=KERNELS,
                cwd=notebook.parent,
                km=manager,
            )
        except (PapermillExecutionError, CellControlSignal, DeadKernelError) as error:
            if getattr(error, "ename", None) == UnavailableError.__name__:
                lacks = error.evalue  # type: ignore[union-attr]  # beside `ename`
            else:
                os.replace(unfinished, failed)
                where = _cell_reached(failed)
                raise NotebookError(
                    f"{notebook.name}, {where}: {_reason(error, cell_seconds)}"
                ) from error
        if wrong := _shown_error(unfinished):
            os.replace(unfinished, failed)
            raise NotebookError(f"{notebook.name}, a widget shows {wrong}")
    if lacks:
        raise UnavailableError(lacks)


@contextlib.contextmanager
def shared_kernel(folder: Path) -> Iterator[AsyncKernelManager]:
    """Starts a kernel for several notebooks of a folder."""
    with _own_kernel():
        kernel = AsyncKernelManager(kernel_name="python3", config=KERNELS)
        run_sync(kernel.start_kernel)(cwd=folder)
    try:
        yield kernel
    finally:
        run_sync(kernel.shutdown_kernel)(now=True)


def _forget(kernel: AsyncKernelManager) -> None:
    """Removes all names from a kernel; what it has imported stays."""
    client = kernel.blocking_client()
    client.start_channels()
    client.wait_for_ready()
    client.execute_interactive("%reset_selective -f .")  # %reset takes __spec__ too
    client.stop_channels()


@contextlib.contextmanager
def _own_kernel() -> Iterator[None]:
    """Makes "python3" mean this interpreter, whatever kernels are installed for the user."""
    before = os.environ.get("JUPYTER_PATH")
    with tempfile.TemporaryDirectory() as folder:
        write_kernel_spec(Path(folder) / "kernels" / "python3")
        os.environ["JUPYTER_PATH"] = os.pathsep.join(filter(None, [folder, before]))
        try:
            yield
        finally:
            if before is None:
                del os.environ["JUPYTER_PATH"]
            else:
                os.environ["JUPYTER_PATH"] = before


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


def widgets(notebook: nbformat.NotebookNode) -> dict[str, dict]:
    """Returns the state of each widget that a notebook shows, by its model's id."""
    models = notebook.metadata.get("widgets", {}).get(_WIDGETS, {}).get("state", {})
    return {model: each["state"] for model, each in models.items()}


def _shown_error(executed: Path) -> str | None:
    """Returns the first error that a widget shows: no cell fails by what a widget calls."""
    for state in widgets(nbformat.read(executed, as_version=4)).values():
        for output in state.get("outputs", []):
            if output["output_type"] == "error":
                return f"{output['ename']}: {output['evalue']}"
    return None


def _reason(error: Exception, cell_seconds: int) -> str:
    if isinstance(error, PapermillExecutionError):
        return f"{error.ename}: {error.evalue}"
    if isinstance(error, DeadKernelError):
        return "the kernel died"
    return f"the cell took longer than {cell_seconds} s"
