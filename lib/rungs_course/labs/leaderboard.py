"""The leaderboard: what answers gain over a machine's own baseline, with the machine they ran on.

It is a file of the repository, to which rows are appended by pull request.
"""

import csv
import datetime
import hashlib
import io
import math
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from rungs._src.core.atomic import atomic_write
from rungs._src.machine.describe import SAME, describe
from rungs._src.provenance import now
from rungs.errors import ConfigurationError
from rungs.version import __version__
from rungs_course import paths
from rungs_course.labs import record
from rungs_course.labs.assessing import assess
from rungs_course.labs.judging import plain
from rungs_course.labs.lab import find, labs
from rungs_course.labs.sandbox import Sandbox, Trusted

MAX_SPREAD = 2.0  # an interval's upper end over its lower one: more means a busy machine


def path(root: Path = paths.ROOT) -> Path:
    """Returns where the leaderboard is."""
    return root / "data" / "leaderboard.csv"


def _matches(pattern: str) -> Callable[[str], bool]:
    return lambda text: re.fullmatch(pattern, text) is not None


def _is_number(text: str) -> bool:
    """Returns whether a text is a number above 0."""
    return _matches(r"\d+(\.\d+)?(e[+-]?\d+)?")(text) and 0 < float(text) < math.inf


def _is_time(text: str) -> bool:
    try:
        return datetime.datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


# What cells may hold: nothing that a spreadsheet or a page of Markdown interprets.
_is_fact = _matches(r"|\w[\w .,:;/()@#+~-]{0,99}")
_is_count = _matches(r"[1-9]\d{0,15}")
SCHEMA: dict[str, Callable[[str], bool]] = {
    "lab": lambda text: text in labs(),
    "name": _matches(r"\w[\w .'-]{0,39}"),
    **dict.fromkeys(("gain", "gain_low", "gain_high"), _is_number),
    **dict.fromkeys(("share", "share_low", "share_high"), _is_number),
    "date": _is_time,
    "rungs": _matches(r"\d[\w.+]{0,39}"),
    "code_sha256": _matches(r"[0-9a-f]{64}"),
    # The machine: see `describe`.
    "machine": _matches(r"\w[^|<>`\[\]]{0,99}"),
    **dict.fromkeys(("cpu_vendor", "cpu_family", "cpu_model", "cpu_stepping"), _is_fact),
    **dict.fromkeys(("microarchitecture", "gpu"), _is_fact),
    **dict.fromkeys(("cores", "all_cores", "memory_bytes"), _is_count),
    **dict.fromkeys(("virtual", "system", "python"), _is_fact),
}


def read(file: Path) -> list[dict[str, str]]:
    """Reads the leaderboard.

    Returns:
        Its rows, in the file's order, each as text by column.

    Raises:
        ConfigurationError: the file is not a leaderboard, or a row violates `SCHEMA`: file, row and
            column are named.
    """
    try:
        table = csv.reader(io.StringIO(file.read_text(encoding="utf-8")), strict=True)
        lines = list(table)
    except (OSError, ValueError, csv.Error) as error:
        raise ConfigurationError(f"{file} is not a leaderboard: {error}") from None
    if not lines or lines[0] != [*SCHEMA]:
        raise ConfigurationError(f"{file} is not a leaderboard: its columns must be {[*SCHEMA]}")
    rows: list[dict[str, str]] = []
    for number, cells in enumerate(lines[1:], 2):
        row = dict(zip(SCHEMA, cells, strict=False))
        if wrong := "it has other columns" if len(cells) != len(SCHEMA) else _flaw(row, rows):
            raise ConfigurationError(f"{file}, row {number}: {wrong}")
        rows.append(row)
    return rows


def _flaw(row: dict[str, str], before: Iterable[dict[str, str]]) -> str:
    """Returns what is wrong with a row after others; "" where nothing is."""
    for column, fits in SCHEMA.items():
        if not fits(row[column]):
            return f"{column}={plain(row[column], 100)!r}"
    for what in ("gain", "share"):
        low, middle, high = (float(row[f"{what}{end}"]) for end in ("_low", "", "_high"))
        if not low <= middle <= high:
            return f"{what}={middle:g} is not between {low:g} and {high:g}"
    low, high = float(row["gain_low"]), float(row["gain_high"])
    if high > MAX_SPREAD * low:
        return (
            f"gain_low={low:g} and gain_high={high:g} are more than {MAX_SPREAD:g} times apart: "
            "measure on a machine that does nothing else"
        )
    same = ("lab", "name", "code_sha256", *SAME)
    if any(all(row[column] == other[column] for column in same) for other in before):
        return f"the same answer of {row['name']!r} on the same machine is listed already"
    return ""


def add(
    name: str, wanted: list[str], place: Sandbox | Trusted, file: Path | None = None
) -> list[dict[str, str]]:
    """Judges this user's answers again, and appends a row for each.

    Args:
        name: under which the rows appear.
        wanted: the labs.
        place: where the answers run.
        file: the leaderboard; by default the repository's.

    Returns:
        The new rows.

    Raises:
        ConfigurationError: there is no such lab, a lab has no right answer in the user's record, or
            its answer is not right here; or a row is invalid, as where the machine is too busy.
            Then nothing is appended.
        StorageError: it can't be written.
        UnavailableError: this machine lacks something that a lab needs.
    """
    file = file or path()
    rows, kept = read(file), record.read()
    added: list[dict[str, str]] = []
    for lab in [find(each).name for each in wanted]:
        code = kept.get(lab, {}).get("code")
        if code is None:
            raise ConfigurationError(f"lab {lab}: there is no right answer of yours yet")
        row = _row(lab, name, code, place)
        if wrong := _flaw(row, [*rows, *added]):
            raise ConfigurationError(f"lab {lab}: {wrong}")
        added.append(row)
    with atomic_write(file) as unfinished, open(unfinished, "w", newline="") as written:
        table = csv.DictWriter(written, [*SCHEMA], lineterminator="\n")
        table.writeheader()
        table.writerows([*rows, *added])
    return added


def _row(lab: str, name: str, code: str, place: Sandbox | Trusted) -> dict[str, str]:
    verdict = assess(lab, code, place)
    if not verdict.right:
        raise ConfigurationError(f"lab {lab}: {verdict}")
    scores = {"gain": verdict.gain, "share": verdict.share}
    numbers = {
        f"{what}{end}": f"{value:.4g}"
        for what, factor in scores.items()
        for end, value in (("", factor.middle), ("_low", factor.low), ("_high", factor.high))
    }
    facts = {key: "" if value is None else str(value) for key, value in describe().items()}
    row = {"lab": lab, "name": name, **numbers, "date": now(), "rungs": __version__, **facts}
    row["code_sha256"] = hashlib.sha256(code.encode()).hexdigest()
    return {column: row[column] for column in SCHEMA}


def best(rows: Iterable[dict[str, str]]) -> list[dict[str, str]]:
    """Returns for each lab, name and machine the row that gains most; by lab, then by gain."""
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for row in sorted(rows, key=lambda each: (each["lab"], -float(each["gain"]))):
        found.setdefault((row["lab"], row["name"], *(row[fact] for fact in SAME)), row)
    return list(found.values())
