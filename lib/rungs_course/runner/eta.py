"""Notebooks' times in earlier runs, from which a run's time is estimated."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from rungs_course import paths
from rungs_course.measure import results
from rungs_course.runner import manifest as manifests

_RECORDED = Path("data/recorded/run_seconds.csv")


def expect(size: str, notebooks: list[str], out: Path, root: Path = paths.ROOT) -> dict[str, float]:
    """Returns notebooks' seconds in the last run in `out`, else in the recorded one, of that size;
    nothing where no run holds all of them.
    """
    last = manifests.read(out) if (out / manifests.NAME).exists() else None
    earlier = [seconds_of(last)] if last and last["settings"]["size"] == size else []
    if (root / _RECORDED).exists():
        table = results.load(root / _RECORDED)
        rows = table[table["size"] == size]
        earlier.append(dict(zip(rows["notebook"], rows["seconds"], strict=True)))
    known = (seconds for seconds in earlier if seconds.keys() >= set(notebooks))
    return {name: seconds[name] for seconds in list(known)[:1] for name in notebooks}


def about(
    expected: dict[str, float], notebooks: Iterable[str], done: dict[str, float] | None = None
) -> str:
    """Writes the time that notebooks will take: "about 40 s", "about 3 min"; "" if unknown.

    Seconds of an earlier run are `expected`, perhaps of another machine; `done`, of this run, say
    how fast this one is.
    """
    if not expected:
        return ""
    earlier = sum(expected[name] for name in done or ())
    scale = sum(done.values()) / earlier if done and earlier else 1.0
    seconds = scale * sum(expected[name] for name in notebooks)
    return f"about {in_words(seconds)}" if seconds else ""


def in_words(seconds: float) -> str:
    """Writes a time for a reader who waits for it: "40 s", "3 min", "1.5 h"."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5970 else f"{seconds / 3600:.1f} h"


def record(manifest: dict, root: Path = paths.ROOT) -> Path:
    """Saves how long a run's notebooks took, with the times of other runs, of any machine; returns
    the file.

    A row per `size` and `notebook`, with its `seconds`, and `commit` and `date` of its run.
    """
    table = pd.DataFrame(seconds_of(manifest).items(), columns=["notebook", "seconds"]).round(1)
    table.insert(0, "size", manifest["settings"]["size"])
    table = table.assign(commit=manifest["commit"], date=manifest["started"])
    path = root / _RECORDED
    if path.exists():
        table = pd.concat([results.load(path), table])
    table = table.drop_duplicates(["size", "notebook"], keep="last")
    results.save(table.sort_values(["size", "notebook"]), path, {})
    return path


def seconds_of(manifest: dict) -> dict[str, float]:
    """Returns the seconds of each finished notebook of a run."""
    entries = manifest["notebooks"].items()
    return {name: entry["seconds"] for name, entry in entries if entry["status"] in manifests.OVER}
