"""What a student has reached: kept in the user's own folder, handed in as a file if they like."""

import datetime
import json
from pathlib import Path

import filelock
import platformdirs

from rungs.core.atomic import written
from rungs.errors import ConfigurationError
from rungs.labs.catalogue import labs
from rungs.labs.verdict import Verdict


def path() -> Path:
    """Returns where the record is kept."""
    return Path(platformdirs.user_data_dir("rungs"), "labs.json")


def read(file: Path | None = None) -> dict[str, dict]:
    """Returns a record: by lab, `right`, `reached`, `tries`, `gain`, `share`, `code`, `date`.

    Args:
        file: which; by default this user's.

    Raises:
        ConfigurationError: it is none.
    """
    file = file or path()
    if not file.exists():
        return {}
    try:
        kept = json.loads(file.read_text())
    except ValueError as error:
        raise ConfigurationError(f"{file} is no record of labs: {error}") from None
    if not isinstance(kept, dict) or not all(isinstance(entry, dict) for entry in kept.values()):
        raise ConfigurationError(f"{file} is no record of labs")
    return kept


def add(verdict: Verdict, code: str) -> None:
    """Notes a check. Of several right answers the one with the largest share of the best stays."""
    file = path()
    file.parent.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(f"{file}.lock"):
        kept = read(file)
        before = kept.get(verdict.lab.name, {"right": False, "tries": 0})
        after = before | {"tries": before["tries"] + 1}
        if verdict.right and verdict.share.middle > before.get("share", 0):
            after |= {
                "right": True,
                "reached": verdict.reached or before.get("reached", False),
                "gain": verdict.gain.middle,
                "share": verdict.share.middle,
                "code": code,
                "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            }
        with written(file) as unfinished:
            unfinished.write_text(json.dumps(kept | {verdict.lab.name: after}, indent=1))


def table(kept: dict[str, dict]):
    """Returns a row per lab: name, title, minutes, whether it is right and how fast.

    Args:
        kept: of `read`.
    """
    import pandas as pd

    rows = []
    for name, lab in labs().items():
        entry = kept.get(name, {})
        state = "right" if entry.get("right") else "tried" if entry else "to do"
        state = "target reached" if entry.get("reached") else state
        measured = (entry.get(key) for key in ("tries", "gain", "share"))
        rows.append((name, lab.title, lab.notebook, lab.minutes, state, *measured))
    columns = ["lab", "title", "notebook", "minutes", "state", "tries", "gain", "of the best"]
    return pd.DataFrame(rows, columns=columns)
