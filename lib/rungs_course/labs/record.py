"""A student's record: kept in the user's own folder, and handed in as a file."""

import datetime
import json
import math
import os
from pathlib import Path
from typing import Any

import filelock

from rungs.devel import atomic_write, schema_error, shown, user_dir
from rungs.errors import ConfigurationError
from rungs_course.labs.lab import labs
from rungs_course.labs.verdict import Verdict

_MAX_BYTES = 16 << 20
_FORM: dict[str, type] = {
    "right": bool,
    "reached": bool,
    "tries": int,
    "gain": float,
    "share": float,
    "expected_gain": float,
    "expected_bound": float,
    "code": str,
    "date": str,
}


def path() -> Path:
    """Returns where the record is kept; raises StorageError where this user has no home."""
    return user_dir("data") / "labs.json"


def read(file: Path | None = None) -> dict[str, dict]:
    """Returns a checked record, by default this user's: by lab, a dictionary as `_FORM` has it."""
    file = file or path()
    if not os.path.lexists(file):
        return {}
    entries = load(file)
    for name, entry in entries.items():
        flaw = _entry_error(entry, f"it[{shown(name)}]")
        if flaw:
            raise ConfigurationError(f"{file} is not a record of labs: {flaw}")
    return entries


def _entry_error(entry: Any, name: str) -> str:
    """Returns in a few words what is wrong with an entry of a record; "" where nothing is."""
    if not isinstance(entry, dict):
        return f"{name} is of type {type(entry).__name__}"
    flaw = schema_error(entry, {key: form for key, form in _FORM.items() if key in entry}, name)
    if not flaw and not 0 <= entry.get("tries", 0) < 1 << 31:
        return f"{name}['tries'] is not a number of tries"
    numbers = ("gain", "share", "expected_gain", "expected_bound")
    if not flaw and not all(math.isfinite(entry.get(key, 0)) for key in numbers):
        return f"{name} has a gain, share or expectation that is not a number"
    return flaw


def load(file: Path) -> dict[str, Any]:
    """Returns a file's entries by lab, unchecked: others may have written it."""
    try:
        if not file.is_file():  # opening a pipe would wait for its writer
            raise ConfigurationError(f"{file} is not a file")
        size = file.stat().st_size  # 0 also for the system's own files, which may be endless
        if not 0 < size <= _MAX_BYTES:
            raise ConfigurationError(f"{file} is empty or larger than {_MAX_BYTES >> 20} MB")
        entries = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        if isinstance(error, ConfigurationError):
            raise
        raise ConfigurationError(f"{file} is not a record of labs: {error}") from None
    if not isinstance(entries, dict):
        raise ConfigurationError(f"{file} is not a record of labs: it is not a JSON object")
    return entries


def add(verdict: Verdict, code: str) -> None:
    """Records a check. Of several right answers the one with the largest share of the best is kept.

    An answer that was not raced, as nothing was predicted, is kept until one is raced.
    """
    file = path()
    file.parent.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(f"{file}.lock"):
        entries = read(file)
        before = {"right": False, "tries": 0} | entries.get(verdict.lab.name, {})
        after = before | {"tries": before["tries"] + 1}
        date = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        if verdict.right and not verdict.costs and "share" not in before:
            after |= {"right": True, "code": code, "date": date}
        if verdict.costs and verdict.share.middle > before.get("share", 0):
            after |= {
                "right": True,
                "reached": verdict.reached or before.get("reached", False),
                "gain": verdict.gain.middle,
                "share": verdict.share.middle,
                "code": code,
                **_expected(verdict),
                "date": date,
            }
        with atomic_write(file) as unfinished:
            unfinished.write_text(json.dumps(entries | {verdict.lab.name: after}, indent=1))


def _expected(verdict: Verdict) -> dict[str, float]:
    if not verdict.prediction:
        return {}
    gain, bound = verdict.prediction
    return {"expected_gain": float(gain), "expected_bound": float(bound)}


def hand_in(file: Path) -> int:
    """Copies this user's record to a new file; returns how many right answers it holds."""
    entries = read()
    count = sum(entry.get("right", False) for entry in entries.values())
    if not count:
        raise ConfigurationError("no lab is right yet: there is nothing to hand in")
    if os.path.lexists(file):  # also a dangling link, whose target would be written
        raise ConfigurationError(f"{file} exists already")
    with atomic_write(file) as unfinished:
        unfinished.write_text(json.dumps(entries, indent=1))
    return count


def table(entries: dict[str, dict]):
    """Returns a row per lab of a record: its title, whether it is right, tries, speed."""
    import pandas as pd

    rows = []
    for name, lab in labs().items():
        entry = entries.get(name, {})
        state = "right" if entry.get("right") else "tried" if entry else "to do"
        state = "target reached" if state == "right" and entry.get("reached") else state
        tries, gain, share = entry.get("tries", 0), entry.get("gain"), entry.get("share")
        rows.append((name, *lab.head(), state, tries, gain, share))
    columns = ["lab", "title", "notebook", "minutes", "state", "tries", "gain", "of the best"]
    return pd.DataFrame(rows, columns=columns)
