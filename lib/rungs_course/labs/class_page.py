"""A class on one page: students by name, a column for each lab that anybody handed in."""

import html
from collections.abc import Sequence

from rungs_course.labs.handins import COUNTS, Row
from rungs_course.labs.lab import labs

_WHY = 300  # characters of `Row.why` that are shown
_STYLE = """
body { font: 15px/1.4 sans-serif; margin: 2em; }
table { border-collapse: collapse; }
th, td { border: 1px solid #999; padding: 0.3em 0.6em; text-align: left; vertical-align: top; }
thead th { position: sticky; top: 0; background: #eee; }
.reached { background: #cfe8dc; } .right { background: #eef6d8; }
.wrong, .broken { background: #f7d9cc; }
time, .cell { white-space: nowrap; }
details p { white-space: pre-wrap; max-width: 30em; margin: 0.3em 0; }
tr.not-counted { color: #555; font-style: italic; }
"""
_CLASSES = {"target reached": "reached", "right": "right", "wrong": "wrong", "not handed in": ""}


def class_page(rows: Sequence[Row], about: str) -> str:
    """Returns a page of HTML, which needs no other file.

    Args:
        rows: of one grading, grouped by student.
        about: a sentence on the grading: when and on which machine.
    """
    handed_in = {row.lab for row in rows if row.state != "not handed in"}
    columns = [name for name in labs() if name in handed_in]
    by_file: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        by_file.setdefault((row.student, row.handed_in, row.counts), []).append(row)
    head = "".join(
        f"<th scope=col>{html.escape(title)}</th>"
        for title in ("student", "handed in", "counts", "right", "targets", *columns, "besides")
    )
    body = "\n".join(_line(key, theirs, columns) for key, theirs in by_file.items())
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Labs of a class</title>
<style>{_STYLE}</style>
<h1>Labs of a class</h1>
<p>{html.escape(about)}</p>
<p>In each cell: the gain, which is the baseline's time over the answer's, both measured here in
turns, with its interval; the share of the lab's target that was reached; and, where the lab asks
for a prediction, what was expected of the gain and of the time at best, next to what was measured.
A cell with a triangle opens, and says what is wrong.</p>
<table><thead><tr>{head}</tr></thead>
<tbody>
{body}
</tbody></table></html>
"""


def _line(key: tuple[str, str, str], rows: Sequence[Row], columns: Sequence[str]) -> str:
    student, handed_in, counts = key
    by_lab = {row.lab: row for row in rows}
    right = sum(row.share is not None for row in rows)
    reached = sum(row.state == "target reached" for row in rows)
    at = html.escape(handed_in)
    facts = f'<td><time datetime="{at}">{at[:16].replace("T", " ")}</time></td>'
    facts += f"<td>{html.escape(counts)}</td>"
    cells = "".join(_cell(by_lab.get(name)) for name in columns)
    besides = "; ".join(
        f"{row.lab or 'file'}: {row.state}" for row in rows if row.lab not in columns and row.why
    )
    kind = "" if counts == COUNTS else ' class="not-counted"'
    return (
        f"<tr{kind}><th scope=row>{html.escape(student)}</th>{facts}<td>{right}</td>"
        f"<td>{reached}</td>{cells}<td>{html.escape(besides[:_WHY])}</td></tr>"
    )


def _cell(row: Row | None) -> str:
    if row is None or row.state == "not handed in":
        return "<td></td>"
    text = row.state
    if row.share is not None:
        of_target = row.share / labs()[row.lab].target
        text += f"<br>{row.gain:.3g}× ({row.gain_low:.3g} to {row.gain_high:.3g})"
        text += f"<br>{of_target:.0%} of the target{_expected(row)}"
    if row.why:
        why = html.escape(row.why[:_WHY])
        text = f"<details><summary>{text}</summary><p>{why}</p></details>"
    return f'<td class="cell {_CLASSES.get(row.state, "broken")}">{text}</td>'


def _expected(row: Row) -> str:
    """Returns lines on what was predicted and measured; "" where nothing was predicted."""
    per = labs()[row.lab].per
    text = ""
    if row.expected_gain is not None:
        text += f"<br>expected {row.expected_gain:.3g}×"
    if row.expected_bound is not None and row.nanoseconds is not None and per:
        text += (
            f"<br>took {row.nanoseconds:.3g} ns per {per.name}, "
            f"expected {row.expected_bound:.3g} ns at best"
        )
    return text
