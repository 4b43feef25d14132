"""What students handed in, which of it counts, and what became of each answer."""

import contextlib
import datetime
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from rungs.errors import ConfigurationError
from rungs_course.labs.judging import plain

COUNTS, EARLIER, LATE = "yes", "no: an earlier one", "no: late"


class HandIn(NamedTuple):
    """A file that a student handed in.

    Attributes:
        student: the file's name, without ".json" and without "@" and a time.
        file: where it is.
        at: when it was handed in, to the second: the time in its name, or else when it was written.
        counts: `COUNTS`, `EARLIER` or `LATE`.
    """

    student: str
    file: Path
    at: datetime.datetime
    counts: str


class Row(NamedTuple):
    """The outcome of one answer.

    Attributes:
        student, handed_in, counts: of its `HandIn`, the time as text.
        lab: its name; "" where the row is about the whole file.
        state: "right", "target reached", "wrong" or "not handed in"; or one of `NOT_JUDGED`.
        gain: the baseline's time, or cost, over the answer's, measured here in turns: the inverse
            of the time normalised by the machine. None where the answer is not right.
        gain_low, gain_high: the interval of `gain`, within the noise of this run.
        expected_gain: the gain that the student predicted before the race on their machine; None
            where nothing was predicted.
        nanoseconds: of the answer here, per unit of its lab (`Unit.name`); None where the lab asks
            for no prediction.
        expected_bound: the fewest `nanoseconds` possible, as the student predicted.
        share: of the best known solution's rate, or of the bound's; None where `gain` is.
        share_low, share_high: the interval of `share`.
        why: what is wrong.
    """

    student: str
    handed_in: str
    counts: str
    lab: str
    state: str
    gain: float | None = None
    gain_low: float | None = None
    gain_high: float | None = None
    expected_gain: float | None = None
    nanoseconds: float | None = None
    expected_bound: float | None = None
    share: float | None = None
    share_low: float | None = None
    share_high: float | None = None
    why: str = ""


# Not a record of labs, or not an entry of one; an unknown lab; this machine lacks something.
NOT_JUDGED = ("unreadable", "no such lab", "not judged")


def collect(files: Iterable[Path], deadline: datetime.datetime | None = None) -> list[HandIn]:
    """Finds out whose each file is and whether it counts.

    Args:
        files: "anna.json", or "anna@2026-11-25T1600.json" where students hand in repeatedly.
        deadline: after which nothing counts, with a time zone.

    Returns:
        The hand-ins, sorted by the students' names and then by time.
    """
    by_student: dict[str, list[tuple[datetime.datetime, Path]]] = {}
    for file in files:
        student, at = _named(file)
        by_student.setdefault(student, []).append((at, file))
    found = []
    for student in sorted(by_student, key=lambda name: (name.casefold(), name)):
        theirs = sorted(by_student[student])
        in_time = [at for at, _ in theirs if deadline is None or at <= deadline]
        for number, (at, file) in enumerate(theirs, 1):
            counts = COUNTS if number == len(in_time) else EARLIER
            found.append(HandIn(student, file, at, LATE if number > len(in_time) else counts))
    return found


def parse_time(text: str, what: str) -> datetime.datetime:
    """Parses an ISO 8601 time; without a zone it is in this machine's.

    Raises:
        ConfigurationError: it is not a time; the message calls it `what`.
    """
    try:
        return datetime.datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError):
        raise ConfigurationError(f"{what}={text!r} is not a time like 2026-11-25T16:00") from None


def _named(file: Path) -> tuple[str, datetime.datetime]:
    """Returns the student and the time of a file."""
    student, _, text = file.stem.rpartition("@")
    if student:  # an e-mail address has an "@", too
        with contextlib.suppress(ConfigurationError):
            return plain(student), parse_time(text, "time")
    written = datetime.datetime.fromtimestamp(int(file.lstat().st_mtime), datetime.UTC)
    return plain(file.stem), written.astimezone()
