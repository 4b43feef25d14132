"""The chain: every notebook in order, each in a kernel process of its own."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path

from rungs import paths
from rungs.course import manifest as manifests
from rungs.course import pace
from rungs.course.notebook import declared_parameters, execute
from rungs.course.progress import Progress, in_words
from rungs.errors import ConfigurationError, NotebookError, UnavailableError

NOTEBOOKS = paths.ROOT / "notebooks"
OUT = paths.ROOT / "data" / "run"
FIGURES = paths.ROOT / "figures" / "run"

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
    the others go on.

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
            than a run; nothing was run or removed.
        NotebookError: a notebook failed; what was done before stays, and `resume` goes on there.
    """
    out = out.resolve()
    if size not in CELL_SECONDS:
        raise ConfigurationError(f"size={size!r} is not one of {', '.join(CELL_SECONDS)}")
    chosen = _select(notebooks, only)
    figures = FIGURES if out == OUT else out / "figures"
    values = {"size": size, "seed": 0, "out": str(out.resolve()), "figures": str(figures.resolve())}
    values |= parameters or {}
    for notebook in chosen:
        _check_parameters(notebook, values)
    replaced = _replaced(out, [out / "results", out / "notebooks", out / "book", figures])
    if before:
        before()
    expectation = pace.expect(size, [notebook.stem for notebook in chosen], out)
    settings = {
        "size": size,
        "only": only,
        "parameters": values,
        "notebooks": str(notebooks.resolve()),
        "cell_seconds": cell_seconds or CELL_SECONDS[size],
    }
    manifest = manifests.new(settings, chosen) | {"expected": expectation.seconds}
    for folder in replaced:
        shutil.rmtree(folder)
    manifests.write(manifest, out)
    if expectation.seconds:
        total = in_words(sum(expectation.seconds.values()))
        say(f"About {total}, estimated from {expectation.source}")
    _run_rest(manifest, chosen, out, say)


def resume(*, out: Path = OUT, say: Callable[[str], None] = print) -> None:
    """Goes on with the run in `out` where it stopped, with its own settings.

    Raises:
        ConfigurationError: there is no run, or its sources have changed since.
        NotebookError: as in `run`.
    """
    manifest = manifests.read(out)
    settings = manifest["settings"]
    chosen = _select(Path(settings["notebooks"]), settings["only"])
    manifests.check_unchanged(manifest, chosen)
    _run_rest(manifest, chosen, out, say)


def _replaced(out: Path, folders: list[Path]) -> list[Path]:
    """Returns the folders of an earlier run; refuses a folder with anything else in it."""
    present = [folder for folder in folders if folder.exists()]
    if present and out != OUT and not manifests.exists(out):
        raise ConfigurationError(f"{present[0]} is there, but {out} holds no run to replace")
    return present


def _run_rest(manifest: dict, chosen: list[Path], out: Path, say) -> None:
    settings = manifest["settings"]
    for leftover in out.rglob(".unfinished-*"):  # of a run that was killed
        shutil.rmtree(leftover)
    progress = Progress([notebook.stem for notebook in chosen], manifest["expected"], say)
    for notebook in chosen:
        name, entry = notebook.stem, manifest["notebooks"][notebook.stem]
        if entry["status"] == "done":
            progress.done_before(name, entry["seconds"])
            continue
        progress.begins(name)
        start = time.perf_counter()
        try:
            entry["status"], lacks = _run_one(notebook, settings, out)
        except NotebookError:
            entry["status"] = "failed"
            raise
        finally:
            entry["seconds"] = time.perf_counter() - start
            manifests.write(manifest, out)
        progress.ends(name, entry["seconds"], lacks)
    say(
        f"Done in {in_words(progress.elapsed())}: "
        f"{len(chosen)} notebooks in {out / 'notebooks'}; "
        "python -m rungs book makes pages of them"
    )
    say(f"Results in {out / 'results'}, figures in {settings['parameters']['figures']}")


def _run_one(notebook: Path, settings: dict, out: Path) -> tuple[str, str]:
    """Runs a notebook; returns its status, and what this machine lacks for it, if anything."""
    executed = out / "notebooks" / notebook.name
    try:
        execute(notebook, executed, settings["parameters"], settings["cell_seconds"])
    except UnavailableError as error:
        return "unavailable", str(error)
    return "done", ""


def _select(folder: Path, only: list[str] | None) -> list[Path]:
    by_number = {
        path.name.split("_")[0]: path for path in sorted(folder.glob("[0-9][0-9]_*.ipynb"))
    }
    if not by_number:
        raise ConfigurationError(
            f"no notebooks in {folder}; the course is in Rungs' source tree, not in the package"
        )
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
