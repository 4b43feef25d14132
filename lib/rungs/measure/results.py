"""Results as CSV files that say where they come from.

The first lines of a file, `# key: value`, name the parameters, machine, versions and commit; the
table follows.
"""

import datetime
import importlib.metadata
import itertools
import subprocess
from pathlib import Path

import pandas as pd

from rungs.compile import gpp
from rungs.core.atomic import written
from rungs.core.form import check_is_file
from rungs.errors import CompilerError, ConfigurationError
from rungs.machine.describe import describe, slug
from rungs.measure.peaks import core_speed
from rungs.version import __version__

_PACKAGES = ("numpy", "torch", "cppyy", "chess", "gymnasium")


def provenance(parameters: dict) -> dict:
    """Returns all that a number depends on: parameters, machine, versions, commit and date.

    The version of a package that is not installed is None.

    Raises:
        ConfigurationError: a parameter has the name of one of our facts, or a line break in its
            value, which would pass for the table; it is named.
    """
    facts = describe() | {"rungs": __version__} | {name: _version(name) for name in _PACKAGES}
    facts |= {"g++": _compiler(), "commit": commit(), "date": now()}
    facts |= core_speed()
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
    # An installed package may lie in somebody else's repository, which doesn't know this file.
    if not _git("ls-files", "--error-unmatch", Path(__file__).name):
        return None
    return _git("describe", "--always", "--dirty")


def _git(*command: str) -> str | None:
    """Returns what git says beside this file, or None where it fails or is not installed."""
    here = ["git", "-C", str(Path(__file__).parent)]
    try:
        done = subprocess.run([*here, *command], capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def save(frame: pd.DataFrame, path: Path, parameters: dict) -> None:
    """Writes a table with its provenance to `path`, whole or not at all."""
    lines = [f"# {key}: {value}\n" for key, value in provenance(parameters).items()]
    with written(Path(path)) as unfinished:
        unfinished.write_text("".join(lines) + frame.to_csv(index=False))


def load(path: Path) -> pd.DataFrame:
    """Reads a table that `save` wrote.

    Returns:
        The table; `attrs["provenance"]` holds the provenance, all values as text.

    Raises:
        ConfigurationError: the file can't be read, is no table, or names no provenance; it is
            named.
    """
    try:
        check_is_file(Path(path))
        with open(path) as file:
            # Only at the top: further down a "#" is a value's own, as in the mate Qh7#.
            head = list(itertools.takewhile(lambda line: line.startswith("# "), file))
        # A racer may be called "null"; what is missing is empty.
        frame = pd.read_csv(path, skiprows=len(head), keep_default_na=False, na_values=[""])
    except (OSError, ValueError) as error:  # among them bytes that are no text, and pandas' own
        raise ConfigurationError(f"{path} can't be read: {error}") from None
    if not head or not all(": " in line for line in head):
        raise ConfigurationError(f"{path} does not say where its numbers come from")
    facts = [line.removeprefix("# ").rstrip("\n").split(": ", 1) for line in head]
    frame.attrs["provenance"] = dict(facts)
    if len(frame.attrs["provenance"]) < len(facts):
        raise ConfigurationError(f"{path} says something twice of where its numbers come from")
    return frame


def recorded_folders(root: Path) -> list[Path]:
    """Returns the folders of recorded results, this machine's first if there is one.

    Args:
        root: of the source tree.
    """
    folders = sorted(path for path in (root / "data" / "recorded").glob("*") if path.is_dir())
    own = slug()
    return sorted(folders, key=lambda folder: folder.name != own)


def recorded_on_gpus(name: str, root: Path) -> list[pd.DataFrame]:
    """Returns the tables of one name that were recorded on machines with a GPU.

    Args:
        name: the file's.
        root: of the source tree.
    """
    tables = map(load, sorted((root / "data" / "recorded").glob(f"*/{name}")))
    return [table for table in tables if table.attrs["provenance"].get("gpu", "None") != "None"]


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _compiler() -> str | None:
    try:
        return gpp.version()
    except CompilerError:
        return None
