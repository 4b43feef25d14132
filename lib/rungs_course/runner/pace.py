"""How long notebooks took in earlier runs, so that one may say how long they will take."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from rungs._src.machine.describe import in_words
from rungs_course import paths
from rungs_course.measure import results
from rungs_course.runner import manifest as manifests

_NAME = "run_seconds.csv"


@dataclasses.dataclass(frozen=True)
class Expectation:
    """What a run's notebooks are expected to take.

    Attributes:
        seconds: by notebook; empty where nothing is known.
        source: where they are from, for a sentence.
    """

    seconds: dict[str, float]
    source: str


def expect(size: str, notebooks: list[str], out: Path, root: Path = paths.ROOT) -> Expectation:
    """Returns what notebooks took in the last run in `out`, else in one recorded, of that size."""
    for seconds, source in _earlier(size, out, root):
        if all(name in seconds for name in notebooks):
            return Expectation({name: seconds[name] for name in notebooks}, source)
    return Expectation({}, "")


def _earlier(size: str, out: Path, root: Path) -> Iterator[tuple[dict[str, float], str]]:
    """Runs of a size, the most telling first: seconds by notebook, and which run it was."""
    if manifests.exists(out) and (last := manifests.read(out))["settings"]["size"] == size:
        yield _seconds(last), "the last run here"
    for folder in results.recorded_folders(root):
        if (folder / _NAME).exists():
            table = results.load(folder / _NAME)
            rows = table[table["size"] == size]
            where = in_words(table.attrs["provenance"])
            yield dict(zip(rows["notebook"], rows["seconds"], strict=True)), f"a run on {where}"


def record(manifest: dict, folder: Path) -> Path:
    """Keeps how long a run's notebooks took, beside those of other runs.

    Returns:
        The file: a row per `size` and `notebook`, with its `seconds`, and `commit` and `date` of
        its run.
    """
    table = pd.DataFrame(_seconds(manifest).items(), columns=["notebook", "seconds"]).round(1)
    table.insert(0, "size", manifest["settings"]["size"])
    table = table.assign(commit=manifest["commit"], date=manifest["started"])
    path = folder / _NAME
    if path.exists():
        table = pd.concat([results.load(path), table])
    table = table.drop_duplicates(["size", "notebook"], keep="last")
    results.save(table.sort_values(["size", "notebook"]), path, {})
    return path


def _seconds(manifest: dict) -> dict[str, float]:
    """Returns what the notebooks of a run took that are over."""
    entries = manifest["notebooks"].items()
    return {name: entry["seconds"] for name, entry in entries if entry["status"] in manifests.OVER}
