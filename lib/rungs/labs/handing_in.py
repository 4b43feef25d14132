"""What a student hands in, and what a teacher makes of it."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from rungs.errors import ConfigurationError
from rungs.labs import record
from rungs.labs.catalogue import labs
from rungs.labs.check import check


def hand_in(file: Path) -> int:
    """Copies this user's record, with the code of every right answer, to a file.

    Returns:
        How many right answers it holds.

    Raises:
        ConfigurationError: the file is there already, or no lab is right yet.
    """
    count = sum(entry.get("right", False) for entry in record.read().values())
    if not count:
        raise ConfigurationError("no lab is right yet: there is nothing to hand in")
    if file.exists():
        raise ConfigurationError(f"{file} is there already")
    shutil.copyfile(record.path(), file)
    return count


def grade(folder: Path, say: Callable[[str], None] = print) -> pd.DataFrame:
    """Judges what students handed in, here and now; what their files claim counts for nothing.

    Each answer runs in a process of its own, with limits of time, memory and printing. These guard
    against mistakes and are no sandbox: what is handed in is code that runs as the user who grades.

    Args:
        folder: of one JSON file a student.
        say: where progress goes, line by line.

    Returns:
        A row per file and lab, `student` (the file's name), `lab`, `state` ("right", "target
        reached", "wrong", "not handed in"), `share` (of the best known solution's rate, here),
        `why` (what is wrong).

    Raises:
        ConfigurationError: no file is there, or one is no record of labs; none was judged.
    """
    files = sorted(folder.glob("*.json"))
    if not files:
        raise ConfigurationError(f"no *.json is in {folder}")
    records = {file.stem: record.read(file) for file in files}
    rows: list[tuple] = []
    for student, kept in records.items():
        for name in labs():
            code = kept.get(name, {}).get("code")
            if not isinstance(code, str):
                rows.append((student, name, "not handed in", None, ""))
                continue
            verdict = check(name, code)
            state = "target reached" if verdict.reached else "right" if verdict.right else "wrong"
            share = verdict.share.middle if verdict.right else None
            rows.append((student, name, state, share, "" if verdict.right else str(verdict)))
            say(f"{student}, lab {name}: {state}")
    return pd.DataFrame(rows, columns=["student", "lab", "state", "share", "why"])
