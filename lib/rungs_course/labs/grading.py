"""Grades the answers that students hand in, as a table."""

import csv
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from rungs.devel import Say, line, reraise_as_storage_error, watched
from rungs.errors import ConfigurationError, UnavailableError
from rungs_course.labs import record
from rungs_course.labs.judging import assess, one_line, plain
from rungs_course.labs.lab import labs
from rungs_course.labs.sandbox import Launcher, choose_launcher

_CELL = 30_000  # characters; spreadsheets' limit is a little higher
_EXPECTED = ("expected_gain", "expected_bound")
_MAX_EXPECTED = 1e12  # times, or nanoseconds

# Not a record of labs, or not an entry of one; an unknown lab; this machine lacks something.
NOT_JUDGED = ("unreadable", "no such lab", "not judged")


class Row(NamedTuple):
    """The outcome of one answer."""

    student: str  # the file's name, without ".json"
    lab: str  # "" where the row is about the whole file
    state: str  # "right", "target reached", "wrong", "not handed in", or one of `NOT_JUDGED`
    gain: float | None = None  # the baseline's cost over the answer's, measured here in turns
    gain_low: float | None = None
    gain_high: float | None = None
    expected_gain: float | None = None  # predicted before the race on the student's machine
    nanoseconds: float | None = None  # of the answer here, per unit of its lab (`Unit.name`)
    expected_bound: float | None = None  # the fewest `nanoseconds` possible, as predicted
    share: float | None = None  # of the best known solution's rate, or of the bound's
    share_low: float | None = None
    share_high: float | None = None
    why: str = ""


def grade(folder: Path, out: Path, say: Say = line, *, trust: bool = False) -> int:
    """Judges students' answers again, on this machine; the results in their files are ignored.

    Rows are written to `out` with ".unfinished" after its name, which replaces `out` when all is
    judged; returns how many rows have a state of `NOT_JUDGED`.
    """
    files = sorted(folder.glob("*.json")) if folder.is_dir() else []
    if not files:
        raise ConfigurationError(f"no *.json is in {folder}")
    out = Path(os.path.realpath(out))
    if out.exists() and not out.is_file():
        raise ConfigurationError(f"{out} is not a file")
    if out in {Path(os.path.realpath(file)) for file in files}:
        raise ConfigurationError(f"{out} was handed in: choose another file for the result")
    for other in sorted(set(folder.iterdir()) - {*files, out}):
        say(f"{one_line(other.name)} is not a *.json file: skipped")
    launcher = choose_launcher(trust)
    not_judged = 0
    unfinished = out.with_name(f"{out.name}.unfinished")

    def write(row: Iterable[Any], mode: str = "a") -> None:
        with (
            reraise_as_storage_error(out),
            open(unfinished, mode, newline="", encoding="utf-8") as file,
        ):
            csv.writer(file).writerow(row)

    _check_is_left_over(unfinished)
    write(Row._fields, "w")
    try:
        rows = (row for path in files for row in _rows_of_file(path, launcher))
        for row in watched(rows, "labs judged", len(files) * len(labs()), say):
            write(map(cell, row))
            not_judged += row.state in NOT_JUDGED
            if row.state != "not handed in":
                say(f"{row.student}, {f'lab {row.lab}' if row.lab else 'file'}: {row.state}")
    except BaseException:
        say(f"What was judged so far is in {unfinished}")
        raise
    with reraise_as_storage_error(out):
        os.replace(unfinished, out)
    return not_judged


def _check_is_left_over(unfinished: Path) -> None:
    """Raises ConfigurationError if a file is there that is not an interrupted grading's table."""
    if not os.path.lexists(unfinished):
        return
    head = ",".join(Row._fields).encode()
    if not unfinished.is_symlink() and unfinished.is_file():
        with reraise_as_storage_error(unfinished), unfinished.open("rb") as file:
            if file.readline().rstrip() in (b"", head):
                return
    raise ConfigurationError(f"{unfinished} exists already, and is not a table of a grading")


def _rows_of_file(file: Path, launcher: Launcher) -> Iterator[Row]:
    """Yields the rows of a student's file, one for each lab."""
    blank = Row(one_line(file.stem), "", "")
    try:
        entries = record.load(file)
    except ConfigurationError as error:
        yield blank._replace(state="unreadable", why=str(error))
        return
    for name in labs():
        yield _row(blank._replace(lab=name), entries.get(name, {}), launcher)
    for name in (name for name in entries if name not in labs()):
        why = "perhaps it is of another version of Rungs"
        yield blank._replace(lab=one_line(name), state="no such lab", why=why)


def _row(blank: Row, entry: Any, launcher: Launcher) -> Row:
    if not isinstance(entry, dict):
        return blank._replace(state="unreadable", why=f"it is of type {type(entry).__name__}")
    if "code" not in entry:
        return blank._replace(state="not handed in")
    code = entry["code"]
    if not isinstance(code, str):
        why = f"its code is of type {type(code).__name__}"
        return blank._replace(state="unreadable", why=why)
    predictions = {key: entry[key] for key in _EXPECTED if key in entry}
    for key, value in predictions.items():
        if type(value) not in (int, float) or not 0 < value < _MAX_EXPECTED:
            return blank._replace(state="unreadable", why=f"its {key} is not a positive number")
    blank = blank._replace(**predictions)
    try:
        verdict = assess(blank.lab, code, launcher)
    except (UnavailableError, OSError) as error:
        return blank._replace(state="not judged", why=str(error))
    if not verdict.right:
        return blank._replace(state="wrong", why=str(verdict))
    gain, share = verdict.gain, verdict.share
    return blank._replace(
        state="target reached" if verdict.reached else "right",
        gain=gain.middle,
        gain_low=gain.low,
        gain_high=gain.high,
        nanoseconds=verdict.nanoseconds["yours"] if verdict.lab.per else None,
        share=share.middle,
        share_low=share.low,
        share_high=share.high,
    )


def cell(value: str | float | None) -> str | float | None:
    """Returns a value as a cell that no spreadsheet takes for a formula."""
    if not isinstance(value, str):
        return value
    text = plain(value, _CELL)
    return f"'{text}" if text.lstrip()[:1] in ("=", "+", "-", "@") else text
