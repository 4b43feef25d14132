"""Every lab: its stub fails with help, its solution passes, typical mistakes are pointed at."""

import tomllib
from pathlib import Path

import pytest

from rungs_course.labs import catalogue, check
from rungs_course.labs.building import build
from rungs_course.labs.lab import Difference
from rungs_course.labs.verdict import Verdict

MISTAKES = tomllib.loads((Path(__file__).parent / "mistakes.toml").read_text())
LABS = list(catalogue.labs().values())


def test_every_lab_has_its_mistakes():
    assert MISTAKES.keys() == catalogue.labs().keys()
    assert all(len(mistakes) >= 3 for mistakes in MISTAKES.values())


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
def test_a_lab_says_all_that_it_must(lab):
    assert len(lab.hints) == 2
    assert 10 <= lab.minutes <= 40
    assert 0 < lab.target <= 1
    assert (Path(__file__).parents[3] / "notebooks" / f"{lab.notebook}.ipynb").exists()
    for name in lab.defines:
        assert all(name in lab.code(which) for which in ("stub", "baseline", "solution"))


@pytest.mark.system
@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
def test_what_is_right_passes_and_typical_mistakes_are_pointed_at(lab):
    answers = {which: lab.code(which) for which in ("solution", "baseline", "stub")}
    mistakes = MISTAKES[lab.name]
    codes = {f"mistake_{i}": mistaken(answers, **each) for i, each in enumerate(mistakes.values())}
    found = verdicts(lab, answers | codes)
    assert found["solution"].right, found["solution"]
    assert found["baseline"].right, found["baseline"]
    assert not found["stub"].right
    for i, (mistake, fields) in enumerate(mistakes.items()):
        assert fields["says"] in str(found[f"mistake_{i}"]), mistake


def mistaken(answers, old, new, **_):
    """Returns the solution, or else the baseline, with a mistake in it."""
    either = answers["solution"], answers["baseline"]
    code = next(each for each in either if each.count(old) == 1)
    return code.replace(old, new)


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
