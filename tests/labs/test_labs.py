"""Every lab: its stub fails with help, its solution passes, typical mistakes are pointed at."""

from pathlib import Path

import pytest

from rungs_course.labs import catalogue, check
from rungs_course.labs.building import build
from rungs_course.labs.lab import Difference
from rungs_course.labs.verdict import Verdict

WRONG = sorted(Path(__file__).parent.glob("wrong/*/*"))
LABS = list(catalogue.labs().values())


def test_every_lab_has_its_mistakes():
    assert {path.parent.name for path in WRONG} == set(catalogue.labs())
    for lab in LABS:
        assert sum(path.parent.name == lab.name for path in WRONG) >= 3, lab.name


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
def test_a_lab_says_all_that_it_must(lab):
    assert len(lab.hints) == 2
    assert 10 <= lab.minutes <= 40
    assert 0 < lab.target <= 1
    assert (Path(__file__).parents[2] / "notebooks" / f"{lab.notebook}.ipynb").exists()
    for name in lab.defines:
        assert all(name in lab.code(which) for which in ("stub", "baseline", "solution"))


@pytest.mark.system
@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
def test_what_is_right_passes_and_typical_mistakes_are_pointed_at(lab):
    answers = {which: lab.code(which) for which in ("solution", "baseline", "stub")}
    mistakes = {path.stem: path.read_text() for path in WRONG if path.parent.name == lab.name}
    found = verdicts(lab, answers | mistakes)
    assert found["solution"].right, found["solution"]
    assert found["baseline"].right, found["baseline"]
    assert not found["stub"].right
    for name, code in mistakes.items():
        said = code.splitlines()[0].split("says: ")[1]
        assert said in str(found[name]), name


def verdicts(lab, answers):
    if lab.alone:
        return {name: check(lab.name, code) for name, code in answers.items()}
    made = build(lab, answers).items()
    return {name: Verdict(lab, difference=judged(lab, functions)) for name, functions in made}


def judged(lab, functions):
    try:
        return lab.judge(functions)
    except Exception as error:
        return Difference("what it raised", "nothing", repr(error))
