"""Grading of what students hand in: a table and, if wanted, a page of the class."""

import csv
import itertools
import os
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rungs._src.core.atomic import atomic_write, reraise_as_storage_error
from rungs._src.core.progress import Say, line, watched
from rungs._src.machine.describe import describe, in_words
from rungs._src.provenance import now
from rungs.errors import ConfigurationError, UnavailableError
from rungs_course.labs import record
from rungs_course.labs.assessing import assess
from rungs_course.labs.class_page import class_page
from rungs_course.labs.handins import NOT_JUDGED, HandIn, Row, collect, parse_time
from rungs_course.labs.harness import RACED_CASES
from rungs_course.labs.judging import plain
from rungs_course.labs.lab import labs
from rungs_course.labs.sandbox import Sandbox, Trusted, chosen
from rungs_course.labs.verdict import Verdict

_CELL = 30_000  # characters: the limit of spreadsheets is a little higher
_EXPECTED = ("expected_gain", "expected_bound")
_MAX_EXPECTED = 1e12  # times, or nanoseconds


def grade(
    folder: Path,
    out: Path,
    say: Say = line,
    *,
    deadline: str | None = None,
    page: Path | None = None,
    trust: bool = False,
) -> int:
    """Judges students' answers again, on this machine; the results in their files are ignored.

    Each answer runs in a sandbox, in processes of its own: see `assessing.assess`. All files of a
    student are judged, and the newest one before the deadline counts: see `handins.collect`.

    Args:
        folder: of JSON files. Other files are reported and skipped.
        out: a CSV file, a `Row` a line. It is replaced only when all is judged: until then rows are
            written, one by one, to a file next to it, with ".unfinished" after its name.
        say: receives lines of progress.
        deadline: an ISO 8601 time, in this machine's zone if it names none.
        page: an HTML file that shows the class as a table.
        trust: whether answers run without a sandbox, as the user who grades.

    Returns:
        How many rows have a state of `NOT_JUDGED`.

    Raises:
        ConfigurationError: `folder` has no JSON file; `out` or `page` is one of those, is not a
            regular file, or both are the same; the ".unfinished" file is not a grading's table;
            `deadline` is not a time. Then nothing was judged.
        StorageError: `out` or `page` can't be written.
        UnavailableError: there is no sandbox here, and answers are not trusted.
    """
    until = None if deadline is None else parse_time(deadline, "deadline")
    files = sorted(folder.glob("*.json")) if folder.is_dir() else []
    if not files:
        raise ConfigurationError(f"no *.json is in {folder}")
    out = Path(os.path.realpath(out))
    page = page and Path(os.path.realpath(page))
    if page == out:
        raise ConfigurationError(f"{out} can't be both table and page")
    handed_in = {Path(os.path.realpath(file)) for file in files}
    for path in filter(None, (out, page)):
        if path.exists() and not path.is_file():
            raise ConfigurationError(f"{path} is not a file")
        if path in handed_in:
            raise ConfigurationError(f"{path} was handed in: choose another file for the result")
    for other in sorted(set(folder.iterdir()) - {*files, out, page}):
        say(f"{plain(other.name)} is not a *.json file: skipped")
    place = chosen(trust)
    judged = []
    unfinished = out.with_name(f"{out.name}.unfinished")
    with reraise_as_storage_error(out):
        _check_is_left_over(unfinished)
        file = open(unfinished, "w", newline="", encoding="utf-8")  # noqa: SIM115
    with file:
        table = csv.writer(file)
        table.writerow(Row._fields)
        try:
            rows = _judged(collect(files, until), place)
            for row in watched(rows, "labs judged", len(files) * len(labs()), say):
                table.writerow(map(cell, row))
                file.flush()
                judged.append(row)
                if row.state != "not handed in":
                    say(f"{row.student}, {f'lab {row.lab}' if row.lab else 'file'}: {row.state}")
        except BaseException:
            say(f"What was judged so far is in {unfinished}")
            raise
    with reraise_as_storage_error(out):
        os.replace(unfinished, out)
    if page:
        about = f"Graded {now()} on {in_words(describe())}; "
        about += f"the deadline was {until.isoformat()}." if until else "there was no deadline."
        with atomic_write(page) as written:
            written.write_text(class_page(judged, about), encoding="utf-8")
    return sum(row.state in NOT_JUDGED for row in judged)


def _check_is_left_over(unfinished: Path) -> None:
    """Raises ConfigurationError if a file is there that is not an interrupted grading's table."""
    if not os.path.lexists(unfinished):
        return
    head = ",".join(Row._fields).encode()
    if not unfinished.is_symlink() and unfinished.is_file():
        with unfinished.open("rb") as file:
            if file.readline().rstrip() in (b"", head):
                return
    raise ConfigurationError(f"{unfinished} exists already, and is not a table of a grading")


def _judged(handed_in: list[HandIn], place: Sandbox | Trusted) -> Iterator[Row]:
    """Yields the rows of each hand-in, one for each lab.

    Code that a student hands in again is not judged again.
    """
    for student, theirs in itertools.groupby(handed_in, lambda each: each.student):
        seen: dict[tuple[str, str], Row] = {}
        for _, file, at, counts in theirs:
            yield from _of_file(Row(student, at.isoformat(), counts, "", ""), file, seen, place)


def _of_file(
    blank: Row, file: Path, seen: dict[tuple[str, str], Row], place: Sandbox | Trusted
) -> Iterator[Row]:
    """Yields the rows of a hand-in, which begin as `blank` does."""
    try:
        kept = record.load(file)
    except ConfigurationError as error:
        yield blank._replace(state="unreadable", why=str(error))
        return
    for name in labs():
        yield _row(blank._replace(lab=name), kept.get(name, {}), seen, place)
    for name in (name for name in kept if name not in labs()):
        why = "perhaps it is of another version of Rungs"
        yield blank._replace(lab=plain(name), state="no such lab", why=why)


def _row(blank: Row, entry: Any, seen: dict[tuple[str, str], Row], place: Sandbox | Trusted) -> Row:
    if not isinstance(entry, dict):
        return blank._replace(state="unreadable", why=f"it is of type {type(entry).__name__}")
    if "code" not in entry:
        return blank._replace(state="not handed in")
    code = entry["code"]
    if not isinstance(code, str):
        why = f"its code is of type {type(code).__name__}"
        return blank._replace(state="unreadable", why=why)
    said = {key: entry[key] for key in _EXPECTED if key in entry}
    for key, value in said.items():
        if type(value) not in (int, float) or not 0 < value < _MAX_EXPECTED:
            return blank._replace(state="unreadable", why=f"its {key} is not a positive number")
    blank = blank._replace(**said)
    if before := seen.get((blank.lab, code)):
        now = {key: getattr(blank, key) for key in ("handed_in", "counts", *_EXPECTED)}
        return before._replace(**now)
    try:
        verdict = assess(blank.lab, code, place)
    except (UnavailableError, OSError) as error:
        return blank._replace(state="not judged", why=str(error))
    if not verdict.right:
        row = blank._replace(state="wrong", why=str(verdict))
    else:
        gain, share = verdict.gain, verdict.share
        row = blank._replace(
            state="target reached" if verdict.reached else "right",
            gain=gain.middle,
            gain_low=gain.low,
            gain_high=gain.high,
            nanoseconds=nanoseconds(verdict),
            share=share.middle,
            share_low=share.low,
            share_high=share.high,
        )
    seen[blank.lab, code] = row
    return row


def nanoseconds(verdict: Verdict) -> float | None:
    """Returns a graded answer's nanoseconds per `Unit` of its lab; None where that has none."""
    unit = verdict.lab.per
    if not unit:
        return None
    return 1e9 * statistics.median(verdict.costs["yours"]) / (RACED_CASES * unit.count)


def cell(value: str | float | None) -> str | float | None:
    """Returns a value as a cell that no spreadsheet takes for a formula."""
    if not isinstance(value, str):
        return value
    text = plain(value, _CELL)
    return f"'{text}" if text.lstrip()[:1] in ("=", "+", "-", "@") else text
