"""Faults in how the labs' answers are judged, shown and graded."""

from tests.mutants.mutant import Mutant

CHECK = "tests/labs/test_check.py"
GRADE = "tests/labs/test_handing_in.py"

MUTANTS = [
    Mutant(
        "lab-long-error-text",
        "lib/rungs_course/labs/plain.py",
        "    if len(text) > most:\n",
        "    if not text:\n",
        "the text of an error is told in full, which is more than the judge may write",
        (f"{CHECK}::test_a_long_text_keeps_its_beginning_and_its_end",),
    ),
    Mutant(
        "lab-disturbed-judging-passes",
        "lib/rungs_course/labs/check.py",
        "        if begins != key.encode() or kind",
        "        if kind",
        "what a submission writes to the judge's file is believed",
        (f"{CHECK}::test_a_submission_that_writes_where_its_judge_does_is_told_so",),
        "system",
    ),
    Mutant(
        "lab-stale-submission",
        "lib/rungs_course/labs/submissions.py",
        "    _codes[lab.name] = None\n",
        "",
        "after a cell that fails, the one before is judged",
        (f"{CHECK}::test_a_cell_that_fails_is_not_judged_by_the_one_before",),
    ),
    Mutant(
        "lab-target-by-the-interval",
        "lib/rungs_course/labs/verdict.py",
        "_percent(self.share.middle) >= _percent",
        "_percent(self.share.high) >= _percent",
        "a target counts as reached by the interval's upper end, beside a share that is below it",
        (f"{CHECK}::test_what_is_said_of_the_target_is_what_the_numbers_say",),
    ),
    Mutant(
        "lab-record-unchecked",
        "lib/rungs_course/labs/record.py",
        "        if wrong:\n",
        "        if not wrong and entry is None:\n",
        "a record that is damaged ends in an error of Python's",
        (f"{CHECK}::test_a_record_that_is_none_is_named",),
    ),
    Mutant(
        "grade-ends-with-a-bad-file",
        "lib/rungs_course/labs/handing_in.py",
        '            yield Row(student, "", "unreadable", why=str(error))\n            continue\n',
        "            raise error\n",
        "one file that can't be read ends the grading of all others",
        (f"{GRADE}::test_a_file_that_is_no_record_is_a_row_and_the_rest_is_graded",),
    ),
    Mutant(
        "grade-writes-formulas",
        "lib/rungs_course/labs/handing_in.py",
        'if text.lstrip()[:1] in ("=", "+", "-", "@")',
        'if text[:1] in ("+", "-", "@")',
        "a spreadsheet takes a student's name for a formula",
        (f"{GRADE}::test_no_cell_is_a_formula",),
    ),
    Mutant(
        "grade-loses-the-table-before",
        "lib/rungs_course/labs/handing_in.py",
        'out.with_name(f"{out.name}.unfinished")',
        "out",
        "a grading that is interrupted has replaced the table of the one before",
        (f"{GRADE}::test_what_was_judged_before_an_interruption_is_kept",),
    ),
]
