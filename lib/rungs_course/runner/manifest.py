"""A run's sources and its progress: `manifest.json` in the run's folder."""

import functools
import hashlib
import importlib.metadata
import json
from pathlib import Path

from rungs.devel import atomic_write, check_is_file, commit, now, schema_error
from rungs.errors import ConfigurationError
from rungs.machine import describe
from rungs_course import paths
from rungs_course.machine.naming import differing
from rungs_course.measure.peaks import core_speed

_SOURCES = ("lib/**/*.py", "cpp/**/*", "data/paper/*", "pyproject.toml")
NAME = "manifest.json"

_NUMBER, _TEXT_OR_NONE = (int, float), (str, type(None))
_FORM = {
    "settings": {"size": str, "parameters": dict, "cell_seconds": _NUMBER},
    "started": str,
    "commit": _TEXT_OR_NONE,
    "machine": {"machine": str, "cores": int, "gpu": _TEXT_OR_NONE},
    "versions": {...: str},
    "sources": {...: str},
    "expected": {...: _NUMBER},
    "notebooks": {...: {"status": str}},
}
_OVER = {"seconds": _NUMBER}

# The statuses of a notebook that was run; "unavailable": this machine lacks what it needs.
OVER = ("done", "unavailable")


def new(settings: dict, notebooks: list[Path]) -> dict:
    """Makes the manifest of a run that starts now; `resume` takes `settings` from it."""
    return {
        "settings": settings,
        "started": now(),
        "commit": commit(),
        "machine": describe() | core_speed(),
        "versions": _versions(),
        "sources": fingerprints(notebooks),
        "notebooks": {notebook.stem: {"status": "to do"} for notebook in notebooks},
    }


@functools.cache
def _versions() -> dict[str, str]:
    """Returns the versions of all packages, by name: of two, that which is imported."""
    versions: dict[str, str] = {}
    for distribution in importlib.metadata.distributions():
        versions.setdefault(distribution.name, distribution.version)
    return dict(sorted(versions.items()))


def fingerprints(notebooks: list[Path]) -> dict[str, str]:
    """Returns a hash of every file that results depend on."""
    candidates = (file for pattern in _SOURCES for file in paths.ROOT.glob(pattern))
    files = [file for file in candidates if file.is_file()]
    named = {str(file.relative_to(paths.ROOT)): file for file in files}
    named |= {notebook.name: notebook for notebook in notebooks}
    return {
        name: hashlib.sha256(file.read_bytes()).hexdigest() for name, file in sorted(named.items())
    }


def write(manifest: dict, out: Path) -> None:
    """Writes a run's manifest, whole or not at all."""
    with atomic_write(out / NAME) as unfinished:
        unfinished.write_text(json.dumps(manifest, indent=1))


def read(out: Path) -> dict:
    """Reads the manifest of the run in `out`."""
    manifest = read_json(out / NAME, _FORM, f"there is no run in {out}")
    over = {n: entry for n, entry in manifest["notebooks"].items() if entry["status"] in OVER}
    if fault := schema_error(over, {...: _OVER}, "it['notebooks']"):
        raise ConfigurationError(f"{out / NAME} is not of this version of Rungs: {fault}")
    return manifest


def read_json(path: Path, form: dict, missing: str) -> dict:
    """Reads a JSON file of a form, see `schema_error`; `missing` is the message where there is
    none.
    """
    try:
        check_is_file(path)
        content = json.loads(path.read_text())
    except (FileNotFoundError, NotADirectoryError):
        raise ConfigurationError(missing) from None
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigurationError(f"{path} can't be read: {error}") from None
    if fault := schema_error(content, form):
        raise ConfigurationError(f"{path} is not of this version of Rungs: {fault}")
    return content


def check_unchanged(manifest: dict, notebooks: list[Path]) -> None:
    """Raises `ConfigurationError` if results of two machines, or of two versions of the sources,
    would be mixed.
    """
    if apart := differing(describe(), manifest["machine"]):
        raise ConfigurationError(f"can't resume: the run began on another machine: {apart}")
    before, after = manifest["sources"], fingerprints(notebooks)
    changed = sorted(name for name in before | after if before.get(name) != after.get(name))
    if changed:
        raise ConfigurationError(
            f"can't resume: sources changed since the run began: {', '.join(changed)}"
        )
