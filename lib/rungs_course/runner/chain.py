"""The chain: every notebook in order, each in a kernel process of its own."""

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from rungs.devel import (
    Folder,
    Say,
    is_shown,
    line,
    locked_output_dir,
    remove_leftovers,
    resolved,
    watched,
)
from rungs.errors import ConfigurationError, UnavailableError
from rungs_course import outline, paths
from rungs_course.errors import NotebookError
from rungs_course.measure import disturbance
from rungs_course.runner import eta
from rungs_course.runner import manifest as manifests
from rungs_course.runner.notebook import declared_parameters, execute

NOTEBOOKS = paths.ROOT / "notebooks"
OUT = paths.ROOT / "data" / "run"
FIGURES = paths.ROOT / "figures" / "run"

# Files that a run writes in its folder.
_NAMES = (manifests.NAME, "results", "notebooks", "figures")

# Seconds of idling before each notebook, to measure whether other programs compute.
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
    say: Say = line,
) -> None:
    """Runs notebooks from the first to the last, in place of any earlier run in `out`.

    A notebook that raises `UnavailableError`, as this machine lacks what it is about, ends there;
    the others go on. One that fails ends the run, and `resume` goes on there. Only what an earlier
    run wrote is removed, after the arguments are checked and `before` is called; its book stays
    until there is another.
    """
    out = resolved(out)
    settings = {
        "size": size,
        "parameters": parameters or {},
        "cell_seconds": cell_seconds or CELL_SECONDS.get(size, 0),
    }
    chosen, values = _checked(settings, only, out, notebooks)
    with _claimed(out) as folders:
        if before:
            before()
        names = [notebook.stem for notebook in chosen]
        manifest = manifests.new(settings, chosen) | {"expected": eta.expect(size, names, out)}
        # All of this before anything is removed: the disk may be full.
        for folder in folders:
            folder.note([])
        manifests.write(manifest, out)
        for folder in folders:
            folder.clear()
        _run_rest(manifest, chosen, values, folders, say)


def resume(*, out: Path = OUT, notebooks: Path = NOTEBOOKS, say: Say = line) -> None:
    """Goes on with the run in `out` where it stopped, with its own size and parameters.

    Nothing in that folder, which may come from elsewhere, is run: only the notebooks in
    `notebooks`, which must be unchanged since.
    """
    out = resolved(out)
    manifests.read(out)  # raises if there is none, before a folder is made
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
    if reserved := sorted({"size", "out", "figures"} & given.keys()):
        raise ConfigurationError(
            f"{', '.join(reserved)} can't be parameters: "
            f"use --size {'|'.join(CELL_SECONDS)} or --out"
        )
    numbered = outline.numbered(notebooks)
    if not numbered:
        raise ConfigurationError(f"no notebooks in {notebooks}")
    if unknown := sorted(set(only or ()) - numbered.keys()):
        raise ConfigurationError(
            f"no notebook {', '.join(unknown)}; there are: {', '.join(numbered)}"
        )
    chosen = [path for number, path in numbered.items() if only is None or number in only]
    figures = FIGURES if out == OUT else out / "figures"
    values = {"size": size, "seed": 0, "out": str(out), "figures": str(figures)} | given
    for notebook in chosen:
        known = declared_parameters(notebook)
        if unknown := sorted(values.keys() - known):
            raise ConfigurationError(
                f"{notebook.name} has no parameter {', '.join(unknown)}; "
                f"it has: {', '.join(sorted(known))}"
            )
    return chosen, values


@contextlib.contextmanager
def _claimed(out: Path) -> Iterator[list[Folder]]:
    """Locks and yields a run's folder, and that of its figures where it is elsewhere."""
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
    """Runs the notebooks that are not done yet, and keeps the manifest up to date."""
    out, seconds = folders[0].path, manifest["settings"]["cell_seconds"]
    for name in _NAMES[1:]:
        remove_leftovers(out / name)
    names, begin = [notebook.stem for notebook in chosen], time.monotonic()
    for i, notebook in enumerate(watched(chosen, "notebooks", len(chosen), say)):
        name, entry = notebook.stem, manifest["notebooks"][notebook.stem]
        label = f"[{i + 1}/{len(chosen)}] {name}"
        if entry["status"] == "done":
            say(f"{label}: done before, {entry['seconds']:.1f} s")
            continue
        done = eta.seconds_of(manifest)
        alone, rest = (
            eta.about(manifest["expected"], numbers, done) for numbers in ([name], names[i:])
        )
        say(f"{label} … {alone}{rest and f'; {rest} left'}".rstrip())
        entry["busy"] = disturbance.busy_for(_LOOK)
        times, start = disturbance.cpu_times(), time.perf_counter()
        lacks = ""
        try:
            with _noting(folders, name):
                execute(notebook, out / "notebooks" / notebook.name, values, seconds, is_shown(say))
            entry["status"] = "done"
        except UnavailableError as error:
            entry["status"], lacks = "unavailable", f"unavailable here: {error}; "
        except NotebookError:
            entry["status"] = "failed"
            raise
        finally:
            entry["seconds"] = time.perf_counter() - start
            if stolen := disturbance.stolen_since(times):
                entry |= {"stolen": stolen.share, "switches": stolen.switches}
            manifests.write(manifest, out)
        elapsed = eta.in_words(time.monotonic() - begin)
        say(f"{label}: {lacks}{entry['seconds']:.1f} s; {elapsed} so far")
    say(
        f"Done: {len(chosen)} notebooks in {out / 'notebooks'}; "
        "python -m rungs_course book makes pages of them"
    )
    say(f"Results in {out / 'results'}, figures in {values['figures']}")


@contextlib.contextmanager
def _noting(folders: list[Folder], name: str) -> Iterator[None]:
    """Notes the files that a notebook writes: those that begin with its number, as all of them do.

    Files that others write next to them meanwhile don't belong to the run.
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
    """Returns the files named after a notebook, figures too, with the time each was written."""
    files = (
        file for subfolder in ("", *_NAMES[1:]) for file in (folder / subfolder).glob(f"{number}_*")
    )
    return {file: file.stat().st_mtime_ns for file in files if file.is_file()}
