"""Provenance of a result or an agent: parameters, machine, versions and commit."""

import datetime
import functools
import importlib.metadata
from collections.abc import Mapping
from pathlib import Path

from rungs._src.machine.describe import describe
from rungs._src.native import gpp
from rungs._src.programs import run_program
from rungs.errors import CompilerError, ConfigurationError, UnavailableError
from rungs.version import __version__

_PACKAGES = ("numpy", "torch", "cppyy", "chess", "gymnasium")
_GIT_SECONDS = 60.0  # it compares all files, perhaps over a network


def provenance(parameters: dict, measured: Mapping = {}) -> dict:
    """Returns parameters, machine, `measured` facts, versions, commit and date of a result."""
    facts = describe() | {"rungs": __version__} | {name: _version(name) for name in _PACKAGES}
    facts |= {"g++": _compiler(), "commit": commit(), "date": now(), **measured}
    for name, value in parameters.items():
        if name in facts:
            raise ConfigurationError(f"parameter {name}={value!r} has the name of a machine's fact")
        if len(str(value).splitlines()) > 1:
            raise ConfigurationError(f"parameter {name}={value!r} is not one line")
    return parameters | facts


def now() -> str:
    """Returns the time, UTC, to the second."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def commit() -> str | None:
    """Returns the source's commit, with "-dirty" where files differ from it; None outside git."""
    # An installed package may be in another project's repository, which doesn't track this file.
    this_file = Path(__file__)
    if not _git(this_file.parent, "ls-files", "--error-unmatch", this_file.name):
        return None
    return commit_of(this_file.parent)


def commit_of(folder: Path) -> str | None:
    """Returns the commit of a clone, with "-dirty" where files differ; None where there is none."""
    return _git(folder, "describe", "--always", "--dirty")


def _git(folder: Path, *command: str) -> str | None:
    """Returns git's output in a folder, or None where it fails or can't be run."""
    try:
        result = run_program(["git", "-C", folder, *command], _GIT_SECONDS)
    except UnavailableError:
        return None
    return result.stdout.strip() if result.returncode == 0 else None


@functools.cache
def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


@functools.cache
def _compiler() -> str | None:
    try:
        return gpp.version()
    except CompilerError:
        return None
