"""What was recorded on a machine, and whether it is fit to stand beside others' numbers."""

import hashlib
import json
from pathlib import Path

from rungs import paths
from rungs.core.form import misfit
from rungs.course import manifest as manifests
from rungs.course.chain import NOTEBOOKS
from rungs.errors import ConfigurationError
from rungs.machine.describe import slug
from rungs.measure import results

NAME = "record.json"

# Which share of all cores' time others may have used in the moment before a notebook, where the
# system's ticks tell no less than some hundredths; and may have been stolen while it ran.
MOST_BUSY, MOST_STOLEN = 0.15, 0.03

_FORM = {
    "machine": {"machine": str, "cores": int},
    "runs": [
        {
            "commit": (str, type(None)),
            "started": str,
            "versions": {...: str},
            "notebooks": {...: {"status": str, "seconds": (int, float)}},
        }
    ],
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
        `status`, `seconds`, `busy` and `stolen`; `files`, the SHA-256 of each table.

    Raises:
        ConfigurationError: what is in `folder` can't be read.
    """
    earlier = read(folder)["runs"] if (folder / NAME).exists() else []
    again = manifest["notebooks"].keys()
    for run in earlier:
        run["notebooks"] = {
            name: entry for name, entry in run["notebooks"].items() if name not in again
        }
    told, entry = ("commit", "started", "versions"), ("status", "seconds", "busy", "stolen")
    last = {name: manifest[name] for name in told} | {
        "notebooks": {
            name: {key: of.get(key) for key in entry} for name, of in manifest["notebooks"].items()
        }
    }
    return {
        "machine": manifest["machine"],
        "runs": [run for run in (*earlier, last) if run["notebooks"]],
        "files": {file.name: _checksum(file) for file in _tables(folder)},
    }


def read(folder: Path) -> dict:
    """Returns what `record.json` says of `folder`.

    Raises:
        ConfigurationError: it can't be read, or is malformed; the message says where.
    """
    path = folder / NAME
    try:
        record = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigurationError(f"{path} can't be read: {error}") from None
    if wrong := misfit(record, _FORM):
        raise ConfigurationError(f"{path} is no record of this version of Rungs: {wrong}")
    return record


def check(folder: Path, notebooks: Path = NOTEBOOKS) -> None:
    """Refuses results that are incomplete, changed, or of a machine that others kept busy.

    Args:
        folder: of `data/recorded/`.
        notebooks: the folder of the course's.

    Raises:
        ConfigurationError: the message names every fault.
    """
    record = read(folder)
    faults = [
        *_incomplete(record, notebooks),
        *_changed(record, folder),
        *_elsewhere(record, folder),
        *_busy(record),
    ]
    if faults:
        raise ConfigurationError("\n".join([f"{folder} can't be offered:", *faults]))


def _notebooks(record: dict) -> dict[str, dict]:
    """Returns all runs' notebooks; none is of two."""
    return {name: entry for run in record["runs"] for name, entry in run["notebooks"].items()}


def _incomplete(record: dict, notebooks: Path) -> list[str]:
    course = sorted(path.stem for path in notebooks.glob("[0-9][0-9]_*.ipynb"))
    run = _notebooks(record)
    faults = [f"{name}: not run" for name in course if name not in run]
    for name, entry in run.items():
        tables = [file for file in record["files"] if file.startswith(f"{name[:2]}_")]
        if entry["status"] not in manifests.OVER:
            faults.append(f"{name}: {entry['status']}")
        elif entry["status"] == "done" and not tables:
            faults.append(f"{name}: no table")
    for each in record["runs"]:
        if not each["commit"] or each["commit"].endswith("-dirty"):
            faults.append(
                f"{', '.join(each['notebooks'])}: commit {each['commit']}: its sources are in no "
                f"commit, so nobody can run it again"
            )
    return faults


def _changed(record: dict, folder: Path) -> list[str]:
    there = {file.name: _checksum(file) for file in _tables(folder)}
    said = record["files"]
    faults = [f"{name}: missing" for name in sorted(said.keys() - there.keys())]
    known = {name[:2] for name in _notebooks(record)}
    foreign = [name for name in there.keys() | said if name not in said or name[:2] not in known]
    faults += [f"{name}: of no run that {NAME} knows" for name in sorted(foreign)]
    both = sorted(said.keys() & there.keys())
    return faults + [f"{name}: changed since" for name in both if said[name] != there[name]]


def _elsewhere(record: dict, folder: Path) -> list[str]:
    machine = {name: str(record["machine"][name]) for name in ("machine", "cores")}
    faults = []
    for file in _tables(folder):
        facts = results.load(file).attrs["provenance"]
        if any(facts.get(name) != value for name, value in machine.items()):
            faults.append(
                f"{file.name}: of {facts.get('cores')} cores of {facts.get('machine')}, not of "
                f"{machine['cores']} cores of {machine['machine']}"
            )
    return faults


def _busy(record: dict) -> list[str]:
    faults = []
    for name, entry in _notebooks(record).items():
        used, stolen = entry.get("busy"), entry.get("stolen")
        if used is None or stolen is None:
            faults.append(f"{name}: nobody looked whether the machine was busy")
        elif used > MOST_BUSY:
            faults.append(f"{name}: others used {used:.0%} of the cores when it began")
        elif stolen > MOST_STOLEN:
            faults.append(f"{name}: the hypervisor took {stolen:.0%} of the cores while it ran")
    return faults


def _tables(folder: Path) -> list[Path]:
    return sorted(folder.glob("[0-9][0-9]_*.csv"))


def _checksum(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
