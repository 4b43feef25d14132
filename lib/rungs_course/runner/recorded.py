"""Recorded results of machines: saves a run's, and checks whether they can be published."""

import collections
import hashlib
import json
import math
import shutil
from collections.abc import Iterator
from pathlib import Path

from rungs.devel import atomic_write
from rungs.errors import ConfigurationError
from rungs.machine import describe
from rungs_course import paths
from rungs_course.machine.naming import differing, slug, slug_of
from rungs_course.measure import results
from rungs_course.measure.disturbance import MAX_BUSY, Stolen
from rungs_course.outline import FILES, number_of, numbered
from rungs_course.pages import bench as bench_page
from rungs_course.pages import machines as machines_page
from rungs_course.pages import numbers as numbers_page
from rungs_course.runner import eta
from rungs_course.runner import manifest as manifests
from rungs_course.runner.chain import NOTEBOOKS, OUT

NAME = "record.json"

_NUMBER_OR_NONE = (int, float, type(None))
_TEXT_OR_NONE = (str, type(None))
_ENTRY = {
    "status": str,
    "seconds": (int, float),
    "busy": _NUMBER_OR_NONE,
    "stolen": _NUMBER_OR_NONE,
    "switches": _NUMBER_OR_NONE,
}
_FORM = {
    "machine": {
        "machine": str,
        "cores": int,
        "gpu": _TEXT_OR_NONE,
        "cpu_vendor": _TEXT_OR_NONE,
        "cpu_family": _NUMBER_OR_NONE,
        "cpu_model": _NUMBER_OR_NONE,
        "microarchitecture": str,
    },
    "runs": [
        {
            "commit": _TEXT_OR_NONE,
            "started": str,
            "versions": {...: str},
            "notebooks": {...: _ENTRY},
        }
    ],
    "files": {...: str},
}


def here(root: Path = paths.ROOT) -> Path:
    """Returns the folder that holds this machine's recorded results, if there are any."""
    return root / "data" / "recorded" / slug()


def record(out: Path = OUT, root: Path = paths.ROOT) -> Path:
    """Records how long a run's finished notebooks took, and their results if its size is "full";
    returns the folder, or the file of times.

    Results go to `data/recorded/<machine>/`, in place of what was recorded there of the same
    notebooks, with a `record.json` that says of which machine, versions and runs they are; and into
    the README and the pages of machines and of the benchmark. `check` says whether they can be
    published, and lists the notebooks that no run has finished.
    """
    manifest = manifests.read(out)
    entries = manifest["notebooks"].items()
    over = {name: entry for name, entry in entries if entry["status"] in manifests.OVER}
    if not over:
        raise ConfigurationError(f"no notebook of the run in {out} is finished; use --resume")
    manifest |= {"notebooks": over}
    _require_here(f"the run in {out}", manifest["machine"])
    folder = here(root)
    if (folder / NAME).exists():
        _require_here(f"the record in {folder}", read(folder)["machine"])
    if manifest["settings"]["size"] != "full":
        return eta.record(manifest, root)
    numbers = {number_of(name) for name in over}
    files = [file for file in _tables(out / "results") if number_of(file.name) in numbers]
    for file in files:
        _require_here(str(file), results.load(file).attrs["provenance"])
    for old in _tables(folder):
        if number_of(old.name) in numbers and not (out / "results" / old.name).exists():
            old.unlink()
    for file in files:
        with atomic_write(folder / file.name) as unfinished:
            shutil.copyfile(file, unfinished)
    eta.record(manifest, root)
    with atomic_write(folder / NAME) as unfinished:
        unfinished.write_text(json.dumps(with_run(manifest, folder), indent=1))
    machines_page.write_machines(root)
    bench_page.write_bench(root)
    usable = of_runs(folder)
    if usable.issuperset(numbers_page.NEEDED):
        numbers_page.write(root, folder.relative_to(root), usable)
    return folder


def _require_here(subject: str, machine: dict) -> None:
    if apart := differing(machine, describe()):
        raise ConfigurationError(f"{subject} is of another machine than this one: {apart}")


def with_run(manifest: dict, folder: Path) -> dict:
    """Returns the contents of `record.json` once the tables of a run are in `folder`.

    `machine`, of the run; `runs`, the earlier ones without the notebooks that were run again, and
    this one, each with its `commit`, `started`, `versions` and `notebooks`: each one's `status`,
    `seconds`, `busy`, `stolen` and `switches`; `files`, the SHA-256 of each table.
    """
    before = read(folder) if (folder / NAME).exists() else {"runs": []}
    again = manifest["notebooks"]
    for run in before["runs"]:
        run["notebooks"] = {name: of for name, of in run["notebooks"].items() if name not in again}
    last = {name: manifest[name] for name in ("commit", "started", "versions")}
    last["notebooks"] = {name: {key: of.get(key) for key in _ENTRY} for name, of in again.items()}
    return {
        "machine": manifest["machine"],
        "runs": [run for run in (*before["runs"], last) if run["notebooks"]],
        "files": {file.name: _checksum(file) for file in _tables(folder)},
    }


def read(folder: Path) -> dict:
    """Reads the `record.json` of `folder`."""
    path = folder / NAME
    return manifests.read_json(path, _FORM, f"there is no {path}")


def of_runs(folder: Path) -> set[str]:
    """Returns the tables in `folder` that belong to a run in `record.json`."""
    record = read(folder)
    return {name for name in record["files"] if _run_of(name, record)}


def check(folder: Path, notebooks: Path = NOTEBOOKS) -> list[str]:
    """Rejects results that are changed, mixed, of no run, or of a machine that others kept busy;
    returns which notebooks must yet be run.
    """
    record = read(folder)
    faults = [*_of_runs(record), *_of_files(record, folder), *_of_tables(record, folder)]
    if faults:
        raise ConfigurationError("\n".join([f"{folder} is refused:", *faults]))
    run = {name for run in record["runs"] for name in run["notebooks"]}
    course = [path.stem for path in numbered(notebooks).values()]
    return [f"{name}: not run" for name in course if name not in run]


def _of_runs(record: dict) -> Iterator[str]:
    """Yields the faults of the runs: not finished, of unknown sources, on a busy machine."""
    for run in record["runs"]:
        if not _is_whole(run["commit"]):
            yield (
                f"{', '.join(run['notebooks'])}: commit {run['commit']}: its sources are in no "
                f"commit, so it can't be run again"
            )
    count = collections.Counter(name for run in record["runs"] for name in run["notebooks"])
    yield from (f"{name}: of {number} runs" for name, number in count.items() if number > 1)
    entries = {name: entry for run in record["runs"] for name, entry in run["notebooks"].items()}
    for name, entry in entries.items():
        if entry["status"] not in manifests.OVER:
            yield f"{name}: {entry['status']}"
        elif entry["status"] == "done" and number_of(name) not in map(number_of, record["files"]):
            yield f"{name}: no table"
        used, stolen = entry["busy"], entry["stolen"]
        if used is None or stolen is None or math.isnan(used) or math.isnan(stolen):
            yield f"{name}: not measured whether the machine was busy"
        elif used > MAX_BUSY:
            yield f"{name}: others used {used:.0%} of the cores when it began"
        elif Stolen(stolen, entry["switches"] or 0.0).disturbs:
            yield f"{name}: the hypervisor took {stolen:.0%} of the cores while it ran"


def _of_files(record: dict, folder: Path) -> Iterator[str]:
    """Yields the files that are missing, of no run, or changed."""
    there = {file.name: _checksum(file) for file in _tables(folder)}
    listed = record["files"]
    yield from (f"{name}: missing" for name in sorted(listed.keys() - there.keys()))
    for name in sorted(there.keys() | listed):
        if name not in listed or not _run_of(name, record):
            yield f"{name}: of no run that {NAME} knows"
        elif name in there and listed[name] != there[name]:
            yield f"{name}: changed since"


def _of_tables(record: dict, folder: Path) -> Iterator[str]:
    """Yields the tables whose heads contradict their run, the machine, or each other's version."""
    machine = record["machine"]
    if folder.resolve().name != (name := slug_of(machine)):
        yield f"{folder.name}: the folder of this machine is called {name}"
    versions: dict[str, list[str]] = {}
    for file in _tables(folder):
        facts = results.load(file).attrs["provenance"]
        versions.setdefault(str(facts.get("rungs")), []).append(file.name)
        commit, run = facts.get("commit"), _run_of(file.name, record)
        if run and commit != str(run["commit"]):
            yield f"{file.name}: of commit {commit}, not of its run's, {run['commit']}"
        if apart := differing(facts, machine):
            yield f"{file.name}: of another machine than the record: {apart}"
    if len(versions) > 1:
        listed = [f"{version} ({', '.join(files)})" for version, files in sorted(versions.items())]
        yield f"tables of several versions of Rungs: {'; '.join(listed)}"


def _run_of(table: str, record: dict) -> dict | None:
    """Returns the run that a table belongs to; None where `record.json` has none."""
    number = number_of(table)
    runs = (run for run in record["runs"] if number in map(number_of, run["notebooks"]))
    return next(runs, None)


def _is_whole(commit: str | None) -> bool:
    """Returns whether all sources are in a commit, as a manifest or a table names it."""
    return commit not in (None, "None", "") and not commit.endswith("-dirty")


def _tables(folder: Path) -> list[Path]:
    return sorted(file for file in folder.glob(f"{FILES}.csv") if file.is_file())


def _checksum(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise ConfigurationError(f"{file} can't be read: {error}") from None
