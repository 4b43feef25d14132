"""What a teacher makes of what students hand in."""

import csv
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from rungs._src.core.atomic import reraise_as_storage_error
from rungs._src.core.progress import Say, line, watched
from rungs.errors import ConfigurationError, UnavailableError
from rungs_course.labs import record
from rungs_course.labs.assessing import assess
from rungs_course.labs.judging import plain
from rungs_course.labs.lab import labs
from rungs_course.labs.sandbox import Sandbox, Trusted

_CELL = 30_000  # characters: spreadsheets take some more


class Row(NamedTuple):
    """What became of one answer.

    Attributes:
        student: the file's name, without ".json".
        lab: its name; "" where all of the file is meant.
        state: "right", "target reached", "wrong" or "not handed in"; or of `NOT_JUDGED`.
        share: of the best known solution's rate, measured here; None where it is not right.
        low, high: where that share lies, within the noise of this run.
        why: what is wrong.
    """

    student: str
    lab: str
    state: str
    share: float | None = None
    low: float | None = None
    high: float | None = None
    why: str = ""


# A file or an entry that is no record of labs; a lab that there is not; something lacks here.
NOT_JUDGED = ("unreadable", "no such lab", "not judged")


def grade(folder: Path, out: Path, say: Say = line, *, trust: bool = False) -> int:
    """Judges what students handed in, here and now; what their files claim counts for nothing.

    Each answer runs in a sandbox, in processes of its own: `assessing.assess`.

    Args:
        folder: of one JSON file a student. Other files are named and left out.
        out: a CSV file, a `Row` a line. Until all is judged, it is as it was: rows go, as soon as
            they are there, to one next to it, with ".unfinished" after its name.
        say: where progress goes, line by line.
        trust: whether answers run without a sandbox, as the user who grades.

    Returns:
        How many rows are of `NOT_JUDGED`.

    Raises:
        ConfigurationError: no file is there, `out` is one of them or no file, or what is next to
            it with ".unfinished" after its name is no such table; none was judged.
        StorageError: `out` can't be written.
        UnavailableError: there is no sandbox here, and answers are not trusted.
    """
    files = sorted(folder.glob("*.json")) if folder.is_dir() else []
    if not files:
        raise ConfigurationError(f"no *.json is in {folder}")
    out = Path(os.path.realpath(out))
    if out.exists() and not out.is_file():
        raise ConfigurationError(f"{out} is no file")
    if out in (Path(os.path.realpath(file)) for file in files):
        raise ConfigurationError(f"{out} was handed in: the table needs a file of its own")
    for other in sorted(set(folder.iterdir()) - {*files, out}):
        say(f"{plain(other.name)} is no *.json: left out")
    place = Trusted() if trust else _sandbox()
    missed = 0
    unfinished = out.with_name(f"{out.name}.unfinished")
    with reraise_as_storage_error(out):
        _check_is_left_over(unfinished)
        file = open(unfinished, "w", newline="", encoding="utf-8")  # noqa: SIM115
    with file:
        table = csv.writer(file)
        table.writerow(Row._fields)
        try:
            rows = _judged(files, place)
            for row in watched(rows, "labs judged", len(files) * len(labs()), say):
                table.writerow(map(_cell, row))
                file.flush()
                missed += row.state in NOT_JUDGED
                if row.state != "not handed in":
                    say(f"{row.student}, {f'lab {row.lab}' if row.lab else 'file'}: {row.state}")
        except BaseException:
            say(f"What was judged so far is in {unfinished}")
            raise
    with reraise_as_storage_error(out):
        os.replace(unfinished, out)
    return missed


def _sandbox() -> Sandbox:
    sandbox = Sandbox()
    if problem := sandbox.problem():
        raise UnavailableError(
            f"answers can't be run in a sandbox: {problem}. With --trust they run without one, as "
            "you, and may read and write what you may"
        )
    return sandbox


def _check_is_left_over(unfinished: Path) -> None:
    """Refuses to write over what is neither absent nor the rows of a grading that was stopped."""
    if not os.path.lexists(unfinished):
        return
    head = ",".join(Row._fields).encode()
    if not unfinished.is_symlink() and unfinished.is_file():
        with unfinished.open("rb") as file:
            if file.readline().rstrip() in (b"", head):
                return
    raise ConfigurationError(f"{unfinished} is there already, and is no table of a grading")


def _judged(files: list[Path], place: Sandbox | Trusted) -> Iterator[Row]:
    """Yields what becomes of each student's answer to each lab."""
    for file in files:
        student = plain(file.stem)
        try:
            kept = record.load(file)
        except ConfigurationError as error:
            yield Row(student, "", "unreadable", why=str(error))
            continue
        for name in labs():
            yield _row(student, name, kept.get(name, {}), place)
        for name in (name for name in kept if name not in labs()):
            yield Row(student, plain(name), "no such lab", why="it is of another version, perhaps")


def _row(student: str, name: str, entry: Any, place: Sandbox | Trusted) -> Row:
    if not isinstance(entry, dict):
        return Row(student, name, "unreadable", why=f"it is of type {type(entry).__name__}")
    if "code" not in entry:
        return Row(student, name, "not handed in")
    code = entry["code"]
    if not isinstance(code, str):
        return Row(student, name, "unreadable", why=f"its code is of type {type(code).__name__}")
    try:
        verdict = assess(name, code, place)
    except (UnavailableError, OSError) as error:
        return Row(student, name, "not judged", why=str(error))
    if not verdict.right:
        return Row(student, name, "wrong", why=str(verdict))
    state, share = "target reached" if verdict.reached else "right", verdict.share
    return Row(student, name, state, share.middle, share.low, share.high)


def _cell(value: str | float | None) -> str | float | None:
    """Returns a value as a cell that no spreadsheet takes for a formula."""
    if not isinstance(value, str):
        return value
    text = plain(value, _CELL)
    return f"'{text}" if text.lstrip()[:1] in ("=", "+", "-", "@") else text
