"""Results as CSV files that say where they come from.

The first lines of a file, `# key: value`, name the parameters, machine, versions and commit; the
table follows.
"""

import datetime
import importlib.metadata
import subprocess
from pathlib import Path

import pandas as pd

from rungs import aot
from rungs.atomic import written
from rungs.errors import CompilerError, ConfigurationError
from rungs.machine.describe import describe

_PACKAGES = ("rungs", "numpy", "torch", "cppyy", "chess", "gymnasium")


def provenance(parameters: dict) -> dict:
    """All that a number depends on: parameters, machine, versions, commit and date."""
    versions = {name: importlib.metadata.version(name) for name in _PACKAGES}
    return (
        parameters | describe() | versions | {"g++": _compiler(), "commit": commit(), "date": now()}
    )


def now() -> str:
    """The time, UTC, to the second."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def commit() -> str | None:
    """The source's commit, with "-dirty" where files differ from it; None outside git."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
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
        ConfigurationError: the file names no provenance.
    """
    with open(path) as file:
        head = [line[2:].rstrip("\n") for line in file if line.startswith("# ")]
    if not head:
        raise ConfigurationError(f"{path} does not say where its numbers come from")
    frame = pd.read_csv(path, comment="#")
    frame.attrs["provenance"] = dict(line.split(": ", 1) for line in head)
    return frame


def _compiler() -> str | None:
    try:
        return aot.version()
    except CompilerError:
        return None
