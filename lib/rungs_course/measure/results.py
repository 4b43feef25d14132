"""Results as CSV files that say where they come from.

The first lines of a file, `# key: value`, name the parameters, machine, versions and commit; the
table follows.
"""

import itertools
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from rungs.devel import atomic_write, check_is_file, provenance
from rungs.errors import ConfigurationError
from rungs_course.machine.naming import slug
from rungs_course.measure.peaks import core_speed


def save(frame: pd.DataFrame, path: Path, parameters: dict) -> None:
    """Writes a table with its provenance to `path`, whole or not at all."""
    write(frame, path, provenance(parameters, core_speed()))


def write(frame: pd.DataFrame, path: Path, facts: Mapping) -> None:
    """Writes a table with given provenance, whole or not at all."""
    lines = [f"# {key}: {value}\n" for key, value in facts.items()]
    with atomic_write(Path(path)) as unfinished:
        unfinished.write_text("".join(lines) + frame.to_csv(index=False))


def load(path: Path) -> pd.DataFrame:
    """Reads a table that `save` wrote; `attrs["provenance"]` holds its provenance, all values as
    text.
    """
    try:
        check_is_file(Path(path))
        with open(path) as file:
            # Only at the top: further down a "#" is part of a value, as in the mate Qh7#.
            head = list(itertools.takewhile(lambda line: line.startswith("# "), file))
        # A racer may be called "null"; what is missing is empty.
        frame = pd.read_csv(path, skiprows=len(head), keep_default_na=False, na_values=[""])
    except (OSError, ValueError) as error:  # such as bytes that are not text, or pandas' own
        raise ConfigurationError(f"{path} can't be read: {error}") from None
    if not head or not all(": " in line for line in head):
        raise ConfigurationError(f"{path} does not say where its numbers come from")
    facts = [line.removeprefix("# ").rstrip("\n").split(": ", 1) for line in head]
    frame.attrs["provenance"] = dict(facts)
    if len(frame.attrs["provenance"]) < len(facts):
        raise ConfigurationError(f"{path} has a line of its provenance twice")
    return frame


def recorded_folders(root: Path) -> list[Path]:
    """Returns the folders of recorded results in a source tree, this machine's first."""
    folders = sorted(path for path in (root / "data" / "recorded").glob("*") if path.is_dir())
    this_machine = slug()
    return sorted(folders, key=lambda folder: folder.name != this_machine)


def recorded_on_gpus(name: str, root: Path) -> list[pd.DataFrame]:
    """Returns the tables of this file name that were recorded on machines with a GPU."""
    tables = map(load, sorted((root / "data" / "recorded").glob(f"*/{name}")))
    return [table for table in tables if table.attrs["provenance"].get("gpu", "None") != "None"]
