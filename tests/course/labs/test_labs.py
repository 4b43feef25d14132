"""Every lab: its stub fails with help, its solution passes, typical mistakes are pointed at."""

import re
import tomllib
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from rungs.errors import ConfigurationError
from rungs_course.labs import check, solution
from rungs_course.labs.inside.building import build
from rungs_course.labs.lab import CAUSES, NOTEBOOKS, Difference, labs
from rungs_course.labs.verdict import Verdict

ROOT = Path(__file__).parents[3]
MISTAKES = tomllib.loads((Path(__file__).parent / "mistakes.toml").read_text())
LABS = list(labs().values())


def test_every_lab_has_its_mistakes():
    assert MISTAKES.keys() == labs().keys()
    assert all(len(mistakes) >= 3 for mistakes in MISTAKES.values())


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
def test_its_notebook_says_all_that_it_must(lab):
    head, words = lab.head(), "\n".join(cell.source for cell in cells(lab))
    number = head.notebook.partition("_")[0]
    assert 10 <= head.minutes <= (240 if lab.bound else 40)
    assert words.startswith(f"# Lab {lab.name} · ")
    assert f"after [notebook {number}](../{head.notebook}.ipynb)" in words
    assert (ROOT / "notebooks" / f"{head.notebook}.ipynb").exists()
    assert f"It must define: {', '.join(f'`{name}`' for name in lab.defines)}." in words
    for name in lab.defines:
        assert all(name in code for code in (stub(lab), lab.code("baseline"), lab.code("solution")))
    assert 0 < lab.target <= 1
    assert f"{lab.target:.0%} of " in words
    assert ("it is raced" in words) == (lab.unit == "s")
    assert (f"counted, in {lab.unit}," in words) == (lab.unit != "s")
    exercise = "An *exercise*: speed is not its subject."
    said = exercise if lab.cause == "exercise" else f"Cause: **{lab.cause}**."
    assert said in cells(lab)[0].source
    assert f'rungs_course.check("{lab.name}")' in words
    assert f'rungs_course.labs.solution("{lab.name}")' in words
    assert lab.code("solution") in str(solution(lab.name).data)


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
def test_the_table_of_all_labs_says_what_it_is(lab):
    head = lab.head()
    measured = "speed" if lab.unit == "s" else f"{lab.unit}, counted"
    page = (ROOT / "docs" / "labs.md").read_text()
    of_cause = page.partition(f"\n### {lab.cause.capitalize()}")[2].partition("\n#")[0]
    begins = (
        f"| [{lab.name}, {head.title}](../notebooks/labs/{lab.notebook.name}) | {head.minutes} "
        f"| [{head.notebook.partition('_')[0]}](../notebooks/{head.notebook}.ipynb) | "
    )
    (row,) = (line for line in of_cause.splitlines() if line.startswith(begins))
    outcome, target = row.removeprefix(begins).removesuffix(" |").split(" | ")
    assert outcome
    assert target == f"{lab.target:.0%} of the {'bound' if lab.bound else 'best'}: {measured}"


def test_what_costs_no_time_is_an_exercise():
    assert {lab.cause for lab in LABS} <= set(CAUSES)
    assert {lab.cause for lab in LABS if lab.unit != "s"} == {"exercise"}


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
def test_it_goes_from_a_warm_up_to_a_stretch_and_four_hints(lab):
    parts = [cell.source for cell in cells(lab)]
    order = [next(i for i, part in enumerate(parts) if part.startswith(begin)) for begin in (
        "## Warm-up", f"%%rung {lab.name}", f'rungs_course.check("{lab.name}")', "## Stretch",
        "Stuck? Here are four hints, from where to look to the solution.",
    )]  # fmt: skip
    assert order == sorted(order)
    assert closed(parts[order[0]]) == ["Answer"]
    assert not closed(parts[order[3]])
    assert closed(parts[order[4]]) == [f"Hint {number}" for number in (1, 2, 3, 4)]
    last = parts[order[4]].partition("<summary>Hint 4")[2].partition("</details>")[0]
    assert "`" in last, "the last hint names no code"


def closed(text):
    """Returns the titles of what can be opened, each of which is closed again."""
    assert text.count("<details>") == text.count("\n</details>")
    return re.findall("<details><summary>(.+)</summary>\n\n", text)


KERNELS = [lab for lab in LABS if lab.per]


@pytest.mark.parametrize("lab", KERNELS, ids=lambda lab: lab.name)
def test_a_kernels_lab_asks_for_a_prediction_before_its_check(lab):
    parts = [cell.source for cell in cells(lab)]
    asked, checked = (
        next(
            i
            for i, part in enumerate(parts)
            if part.startswith(f'rungs_course.{what}("{lab.name}"')
        )
        for what in ("predict", "check")
    )
    assert asked < checked
    assert f"nanoseconds per {lab.per.name}" in "\n".join(parts)
    assert lab.race
    assert lab.idle


def test_every_notebook_is_a_lab():
    assert set(NOTEBOOKS.glob("*.ipynb")) == {lab.notebook for lab in LABS}


def test_a_notebook_that_is_no_lab_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr("rungs_course.labs.lab.NOTEBOOKS", tmp_path)
    with pytest.raises(ConfigurationError, match=LABS[0].notebook.name):
        LABS[0].head()
    nbformat.write(new_notebook(cells=[new_markdown_cell("# Mine")]), LABS[0].notebook)
    with pytest.raises(ConfigurationError, match=LABS[0].notebook.name):
        LABS[0].head()


def cells(lab):
    return nbformat.read(lab.notebook, 4).cells


def stub(lab):
    """Returns the code that a student goes on from."""
    head = f"%%rung {lab.name}\n"
    (cell,) = (cell.source for cell in cells(lab) if cell.source.startswith(head))
    return cell.removeprefix(head)


@pytest.mark.system
@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
def test_what_is_right_passes_and_typical_mistakes_are_pointed_at(lab):
    answers = {which: lab.code(which) for which in ("solution", "baseline")}
    answers["stub"] = stub(lab)
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
    made = build(lab, answers)
    return {name: Verdict(lab, difference=judged(lab, made, name)) for name in made}


def judged(lab, made, name):
    try:
        return lab.first_difference(made[name], made["baseline"])
    except Exception as error:
        return Difference("what it raised", "nothing", repr(error))
