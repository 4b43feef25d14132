"""The chain: every notebook in order, each in a kernel process of its own."""

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from rungs._src.core.atomic import remove_leftovers
from rungs._src.core.folder import Folder, locked_output_dir
from rungs.errors import ConfigurationError, UnavailableError
from rungs_course import paths
from rungs_course.errors import NotebookError
from rungs_course.machine import busy
from rungs_course.runner import manifest as manifests
from rungs_course.runner import pace
from rungs_course.runner.kernels import KernelServer
from rungs_course.runner.notebook import KERNELS, declared_parameters, execute
from rungs_course.runner.progress import Progress, in_words

NOTEBOOKS = paths.ROOT / "notebooks"
OUT = paths.ROOT / "data" / "run"
FIGURES = paths.ROOT / "figures" / "run"

# What a run writes in its folder.
_NAMES = (manifests.NAME, "results", "notebooks", "figures")

# Seconds between two notebooks in which we compute nothing and look whether others do.
_LOOK = 0.2

# The longest a cell may take, in seconds, at each size.
CELL_SECONDS = {"smoke": 600, "quick": 600, "full": 7200}


def run(
    *,
    size: str = "quick",
    only: list[str] | None = None,
    parameters: dict | None = None,
    out: Path = OUT,
    notebooks: Path = NOTEBOOKS,
    cell_seconds: int | None = None,
    before: Callable[[], None] | None = None,
    say: Callable[[str], None] = print,
) -> None:
    """Runs notebooks from the first to the last, in place of any earlier run in `out`.

    One that finds what it is about unavailable here, and says so by `UnavailableError`, ends there;
    the others go on. Of an earlier run what it wrote is removed, and nothing else; its book stays
    until there is another.

    Args:
        size: "smoke", "quick" or "full".
        only: numbers of the notebooks to run, such as ["01", "03"]; by default all.
        parameters: further values for the notebooks' parameters cells.
        out: the run's folder: results, executed notebooks, manifest.
        notebooks: the folder they are in.
        cell_seconds: the longest a cell may take, by default as suits the size.
        before: called when all this was found right, before an earlier run is removed.
        say: where progress goes, line by line.

    Raises:
        ConfigurationError: an unknown size, notebook or parameter, or `out` holds something else
            than a run, or one that is under way; nothing was run or removed.
        NotebookError: a notebook failed; what was done before stays, and `resume` goes on there.
        StorageError: a file can't be written; it is named.
    """
    out = out.resolve()
    settings = {
        "size": size,
        "parameters": parameters or {},
        "cell_seconds": cell_seconds or CELL_SECONDS.get(size, 0),
    }
    chosen, values = _checked(settings, only, out, notebooks)
    with _claimed(out) as folders:
        if before:
            before()
        expectation = pace.expect(size, [notebook.stem for notebook in chosen], out)
        manifest = manifests.new(settings, chosen) | {"expected": expectation.seconds}
        # All of this before anything is removed: the disk may be full.
        for folder in folders:
            folder.note([])
        manifests.write(manifest, out)
        for folder in folders:
            folder.clear()
        if expectation.seconds:
            total = in_words(sum(expectation.seconds.values()))
            say(f"About {total}, estimated from {expectation.source}")
        _run_rest(manifest, chosen, values, folders, say)


def resume(
    *, out: Path = OUT, notebooks: Path = NOTEBOOKS, say: Callable[[str], None] = print
) -> None:
    """Goes on with the run in `out` where it stopped, with its own size and parameters.

    What it runs is never said by that folder, which may come from elsewhere: it is the notebooks
    that are here, unchanged since.

    Args:
        out: the run's folder.
        notebooks: the folder they are in.
        say: where progress goes, line by line.

    Raises:
        ConfigurationError: there is no run, it is under way, its manifest is malformed, or its
            sources have changed since.
        NotebookError, StorageError: as in `run`.
    """
    out = out.resolve()
    manifests.read(out)  # where there is none, nothing is made
    with _claimed(out) as folders:
        manifest = manifests.read(out)
        names = list(manifest["notebooks"])
        only = [name.split("_")[0] for name in names]
        chosen, values = _checked(manifest["settings"], only, out, notebooks)
        manifests.check_unchanged(manifest, chosen)
        if [notebook.stem for notebook in chosen] != names:
            raise ConfigurationError(f"the run in {out} is of other notebooks: {', '.join(names)}")
        _run_rest(manifest, chosen, values, folders, say)


def _checked(
    settings: dict, only: list[str] | None, out: Path, notebooks: Path
) -> tuple[list[Path], dict]:
    """Returns the notebooks that were chosen, and values for their parameters."""
    size, given = settings["size"], settings["parameters"]
    if size not in CELL_SECONDS:
        raise ConfigurationError(f"size={size!r} is not one of {', '.join(CELL_SECONDS)}")
    if places := sorted({"out", "figures"} & given.keys()):
        raise ConfigurationError(f"{', '.join(places)}: a run's folder is said by --out")
    chosen = _select(notebooks, only)
    values = {"size": size, "seed": 0, "out": str(out), "figures": str(_figures(out))} | given
    for notebook in chosen:
        _check_parameters(notebook, values)
    return chosen, values


def _figures(out: Path) -> Path:
    return FIGURES if out == OUT else out / "figures"


@contextlib.contextmanager
def _claimed(out: Path) -> Iterator[list[Folder]]:
    """Keeps a run's folder, and the one of its figures where that is elsewhere, to itself."""
    # Notebooks that are run by hand write to the course's own folders as well.
    refused = (manifests.NAME,) if out == OUT else _NAMES
    with contextlib.ExitStack() as held:
        folders = [held.enter_context(locked_output_dir(out, "run", _NAMES, refused))]
        if out == OUT:
            folders.append(
                held.enter_context(locked_output_dir(FIGURES, "run's figures", ("*.png",), ()))
            )
        yield folders


def _run_rest(manifest: dict, chosen: list[Path], values: dict, folders: list[Folder], say) -> None:
    out = folders[0].path
    for name in _NAMES[1:]:
        remove_leftovers(out / name)
    progress = Progress([notebook.stem for notebook in chosen], manifest["expected"], say)
    with KernelServer() as server:
        _run_each(manifest, chosen, values, folders, progress, server)
    say(
        f"Done in {in_words(progress.elapsed())}: "
        f"{len(chosen)} notebooks in {out / 'notebooks'}; "
        "python -m rungs_course book makes pages of them"
    )
    say(f"Results in {out / 'results'}, figures in {values['figures']}")


def _run_each(
    manifest: dict,
    chosen: list[Path],
    values: dict,
    folders: list[Folder],
    progress: Progress,
    server: KernelServer,
) -> None:
    """Runs the notebooks that are not done yet, and keeps the manifest true."""
    out, seconds = folders[0].path, manifest["settings"]["cell_seconds"]
    for notebook in chosen:
        name, entry = notebook.stem, manifest["notebooks"][notebook.stem]
        if entry["status"] == "done":
            progress.done_before(name, entry["seconds"])
            continue
        progress.begins(name)
        entry["busy"] = busy.busy_for(_LOOK)
        times, start = busy.cpu_times(), time.perf_counter()
        try:
            with _noting(folders, name):
                entry["status"], lacks = _run_one(notebook, out, values, seconds, server)
        except NotebookError:
            entry["status"] = "failed"
            raise
        finally:
            entry["seconds"] = time.perf_counter() - start
            entry["stolen"] = busy.stolen_since(times)
            manifests.write(manifest, out)
        progress.ends(name, entry["seconds"], lacks)


@contextlib.contextmanager
def _noting(folders: list[Folder], name: str) -> Iterator[None]:
    """Notes the files that a notebook writes: those that begin with its number, as all of them do.

    What somebody puts beside them meanwhile is not the run's.
    """
    number = name.split("_")[0]
    before = [_files(folder.path, number) for folder in folders]
    try:
        yield
    finally:
        for folder, there in zip(folders, before, strict=True):
            after = _files(folder.path, number)
            folder.note(file for file, when in after.items() if there.get(file) != when)


def _files(folder: Path, number: str) -> dict[Path, int]:
    """Returns when files were written that are named after a notebook, with those of figures."""
    found = (file for where in ("", *_NAMES[1:]) for file in (folder / where).glob(f"{number}_*"))
    return {file: file.stat().st_mtime_ns for file in found if file.is_file()}


def _run_one(
    notebook: Path, out: Path, values: dict, cell_seconds: int, server: KernelServer
) -> tuple[str, str]:
    """Runs a notebook; returns its status, and what this machine lacks for it, if anything."""
    executed = out / "notebooks" / notebook.name
    try:
        execute(notebook, executed, values, cell_seconds, server.kernel(notebook.parent, KERNELS))
    except UnavailableError as error:
        return "unavailable", str(error)
    return "done", ""


def _select(folder: Path, only: list[str] | None) -> list[Path]:
    by_number = {
        path.name.split("_")[0]: path for path in sorted(folder.glob("[0-9][0-9]_*.ipynb"))
    }
    if not by_number:
        raise ConfigurationError(f"no notebooks in {folder}")
    unknown = sorted(set(only or ()) - set(by_number))
    if unknown:
        raise ConfigurationError(
            f"no notebook {', '.join(unknown)}; there are: {', '.join(by_number)}"
        )
    return [path for number, path in by_number.items() if only is None or number in only]


def _check_parameters(notebook: Path, values: dict) -> None:
    known = declared_parameters(notebook)
    unknown = sorted(set(values) - known)
    if unknown:
        raise ConfigurationError(
            f"{notebook.name} has no parameter {', '.join(unknown)}; "
            f"it has: {', '.join(sorted(known))}"
        )
