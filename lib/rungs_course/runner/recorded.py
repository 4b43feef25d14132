"""What was recorded on a machine, and whether it is fit to stand beside others' numbers."""

import collections
import hashlib
import json
import math
from pathlib import Path

from rungs._src.core.schema import check_is_file, schema_error
from rungs._src.machine.describe import SAME, differing, slug, slug_of
from rungs.errors import ConfigurationError
from rungs_course import paths
from rungs_course.measure import results
from rungs_course.measure.disturbance import MAX_BUSY, MAX_STOLEN
from rungs_course.runner import manifest as manifests
from rungs_course.runner.chain import NOTEBOOKS

NAME = "record.json"

_NUMBER_OR_NONE = (int, float, type(None))
_TEXT_OR_NONE = (str, type(None))
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
            "notebooks": {
                ...: {
                    "status": str,
                    "seconds": (int, float),
                    "busy": _NUMBER_OR_NONE,
                    "stolen": _NUMBER_OR_NONE,
                }
            },
        }
    ],
    "unverified": {...: str},
    "files": {...: str},
}


def here(root: Path = paths.ROOT) -> Path:
    """Returns the folder that holds this machine's recorded results, if there are any."""
    return root / "data" / "recorded" / slug()


def describe(manifest: dict, folder: Path) -> dict:
    """Returns what `record.json` says once the tables of a run are in `folder`.

    Returns:
        `machine`, of the run; `runs`, the earlier ones without the notebooks that were run again,
        and this one, each with its `commit`, `started`, `versions` and `notebooks`: each one's
        `status`, `seconds`, `busy` and `stolen`; `unverified`, of tables from before they named
        their processor, or their run was kept, what is not known; `files`, the SHA-256 of each
        table.

    Raises:
        ConfigurationError: what is in `folder` can't be read.
    """
    before = read(folder) if (folder / NAME).exists() else {"runs": [], "unverified": {}}
    again = manifest["notebooks"].keys()
    for run in before["runs"]:
        run["notebooks"] = {
            name: entry for name, entry in run["notebooks"].items() if name not in again
        }
    told, entry = ("commit", "started", "versions"), ("status", "seconds", "busy", "stolen")
    last = {name: manifest[name] for name in told} | {
        "notebooks": {
            name: {key: of.get(key) for key in entry} for name, of in manifest["notebooks"].items()
        }
    }
    numbers = {name[:2] for name in again}
    return {
        "machine": manifest["machine"],
        "runs": [run for run in (*before["runs"], last) if run["notebooks"]],
        "unverified": {
            name: why for name, why in before["unverified"].items() if name[:2] not in numbers
        },
        "files": {file.name: _checksum(file) for file in _tables(folder)},
    }


def read(folder: Path) -> dict:
    """Returns what `record.json` says of `folder`.

    Raises:
        ConfigurationError: it can't be read, or is malformed; the message says where.
    """
    path = folder / NAME
    try:
        check_is_file(path)
        record = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigurationError(f"{path} can't be read: {error}") from None
    if wrong := schema_error(record, _FORM):
        raise ConfigurationError(f"{path} is no record of this version of Rungs: {wrong}")
    return record


def of_runs(folder: Path) -> set[str]:
    """Returns the tables in `folder` that are of a run which `record.json` knows.

    Raises:
        ConfigurationError: what is in `folder` can't be read.
    """
    record = read(folder)
    return {name for name in record["files"] if _run_of(name, record)}


def check(folder: Path, notebooks: Path = NOTEBOOKS) -> list[str]:
    """Refuses results that are changed, mixed, of no run, or of a machine that others kept busy.

    Args:
        folder: of `data/recorded/`.
        notebooks: the folder of the course's.

    Returns:
        What is missing before they can be offered: notebooks that were not run, and tables that
        `record.json` says are not verified.

    Raises:
        ConfigurationError: the message names every fault.
    """
    record = read(folder)
    tables = {file: results.load(file).attrs["provenance"] for file in _tables(folder)}
    faults = [
        *_incomplete(record),
        *_of_two_runs(record),
        *_changed(record, folder),
        *_of_other_runs(record, tables),
        *_of_other_versions(tables),
        *_elsewhere(record, tables, folder),
        *_busy(record),
    ]
    if faults:
        raise ConfigurationError("\n".join([f"{folder} is refused:", *faults]))
    return _missing(record, notebooks)


def _notebooks(record: dict) -> dict[str, dict]:
    """Returns all runs' notebooks; `_of_two_runs` refuses one that is of two."""
    return {name: entry for run in record["runs"] for name, entry in run["notebooks"].items()}


def _run_of(table: str, record: dict) -> dict | None:
    """Returns the run that a table is of; None where `record.json` knows none."""
    runs = (r for r in record["runs"] if any(name[:2] == table[:2] for name in r["notebooks"]))
    return next(runs, None)


def _missing(record: dict, notebooks: Path) -> list[str]:
    run = _notebooks(record)
    course = sorted(path.stem for path in notebooks.glob("[0-9][0-9]_*.ipynb"))
    missing = [f"{name}: not run" for name in course if name not in run]
    return missing + [f"{name}: not verified: {why}" for name, why in record["unverified"].items()]


def _incomplete(record: dict) -> list[str]:
    faults = []
    for name, entry in _notebooks(record).items():
        tables = [file for file in record["files"] if file.startswith(f"{name[:2]}_")]
        if entry["status"] not in manifests.OVER:
            faults.append(f"{name}: {entry['status']}")
        elif entry["status"] == "done" and not tables:
            faults.append(f"{name}: no table")
    for each in record["runs"]:
        if not _is_whole(each["commit"]):
            faults.append(
                f"{', '.join(each['notebooks'])}: commit {each['commit']}: its sources are in no "
                f"commit, so nobody can run it again"
            )
    return faults


def _of_two_runs(record: dict) -> list[str]:
    count = collections.Counter(name for run in record["runs"] for name in run["notebooks"])
    return [f"{name}: of {number} runs" for name, number in count.items() if number > 1]


def _is_whole(commit: str | None) -> bool:
    """Says whether all sources are in a commit, as a manifest or a table names it."""
    return commit not in (None, "None", "") and not commit.endswith("-dirty")


def _changed(record: dict, folder: Path) -> list[str]:
    there = {file.name: _checksum(file) for file in _tables(folder)}
    said, unverified = record["files"], record["unverified"]
    faults = [f"{name}: missing" for name in sorted((said.keys() | unverified) - there.keys())]
    foreign = [
        name
        for name in there.keys() | said
        if name not in said or not (name in unverified or _run_of(name, record))
    ]
    faults += [f"{name}: of no run that {NAME} knows" for name in sorted(foreign)]
    both = sorted(said.keys() & there.keys())
    return faults + [f"{name}: changed since" for name in both if said[name] != there[name]]


def _of_other_runs(record: dict, tables: dict[Path, dict]) -> list[str]:
    """Names the tables whose commit is not their run's, or holds not all of their sources."""
    faults = []
    for file, facts in tables.items():
        commit, run = facts.get("commit"), _run_of(file.name, record)
        if run and commit != str(run["commit"]):
            faults.append(f"{file.name}: of commit {commit}, not of its run's, {run['commit']}")
        elif not run and not _is_whole(commit):
            faults.append(f"{file.name}: commit {commit}: its sources are in no commit")
    return faults


def _of_other_versions(tables: dict[Path, dict]) -> list[str]:
    names: dict[str, list[str]] = {}
    for file, facts in tables.items():
        names.setdefault(str(facts.get("rungs")), []).append(file.name)
    told = [f"{version} ({', '.join(files)})" for version, files in sorted(names.items())]
    return [f"tables of several versions of Rungs: {'; '.join(told)}"] if len(told) > 1 else []


def _elsewhere(record: dict, tables: dict[Path, dict], folder: Path) -> list[str]:
    machine, faults = record["machine"], []
    name = slug_of(machine)
    if folder.resolve().name != name:
        faults.append(f"{folder.name}: the folder of this machine is called {name}")
    for file, facts in tables.items():
        # What a table from before doesn't tell is said to be unverified.
        told = tuple(n for n in SAME if n in facts) if file.name in record["unverified"] else SAME
        if apart := differing(facts, machine, told):
            faults.append(f"{file.name}: of another machine than the record: {apart}")
    return faults


def _busy(record: dict) -> list[str]:
    faults = []
    for name, entry in _notebooks(record).items():
        used, stolen = entry["busy"], entry["stolen"]
        if used is None or stolen is None or math.isnan(used) or math.isnan(stolen):
            faults.append(f"{name}: nobody looked whether the machine was busy")
        elif used > MAX_BUSY:
            faults.append(f"{name}: others used {used:.0%} of the cores when it began")
        elif stolen > MAX_STOLEN:
            faults.append(f"{name}: the hypervisor took {stolen:.0%} of the cores while it ran")
    return faults


def _tables(folder: Path) -> list[Path]:
    return sorted(file for file in folder.glob("[0-9][0-9]_*.csv") if file.is_file())


def _checksum(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise ConfigurationError(f"{file} can't be read: {error}") from None
