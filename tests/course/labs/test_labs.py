"""Every lab: its notebook is complete, its solution passes, typical mistakes are pointed at."""

import tomllib
from pathlib import Path

import chess
import nbformat
import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from rungs.errors import ConfigurationError
from rungs_course.labs import solution as shown_solution
from rungs_course.labs.inside.building import build
from rungs_course.labs.judging import assess
from rungs_course.labs.lab import CAUSES, NOTEBOOKS, labs
from rungs_course.labs.sandbox import Trusted
from rungs_course.labs.verdict import Verdict

ROOT = Path(__file__).parents[3]
MISTAKES = tomllib.loads((Path(__file__).parent / "mistakes.toml").read_text())
LABS = list(labs().values())


def test_every_notebook_is_a_lab_which_has_mistakes():
    assert set(NOTEBOOKS.glob("*.ipynb")) == {lab.notebook for lab in LABS}
    assert MISTAKES.keys() == labs().keys()
    assert all(MISTAKES.values())


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
def test_its_notebook_holds_a_stub_a_prediction_and_a_check(lab):
    head, parts = lab.head(), [cell.source for cell in cells(lab)]
    assert 10 <= head.minutes <= (240 if lab.bound else 40)
    assert (ROOT / "notebooks" / f"{head.notebook}.ipynb").exists()
    assert 0 < lab.target <= 1
    assert lab.cause in CAUSES
    assert lab.unit == "s" or lab.cause == "exercise"
    for name in lab.defines:
        assert f"`{name}`" in parts[0]
        assert all(name in code for code in (stub(lab), lab.code("baseline"), lab.code("solution")))
    beginnings = [f"%%rung {lab.name}\n", f'rungs_course.check("{lab.name}")']
    if lab.per:
        assert lab.race
        assert lab.idle
        beginnings.insert(1, f'rungs_course.predict("{lab.name}"')
    order = [next(i for i, part in enumerate(parts) if part.startswith(b)) for b in beginnings]
    assert order == sorted(order)
    hints = parts[-1]
    assert "<details>" in hints
    assert f'rungs_course.labs.solution("{lab.name}")' in hints
    assert lab.code("solution") in str(shown_solution(lab.name).data)
    assert f"(../notebooks/labs/{lab.notebook.name})" in (ROOT / "docs" / "labs.md").read_text()


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
    mistakes = MISTAKES[lab.name]
    codes = [lab.code("solution"), lab.code("baseline")]
    codes += [stub(lab), *(patched(codes, *mistake[:2]) for mistake in mistakes.values())]
    solution, baseline, of_stub, *of_mistakes = verdicts(lab, codes)
    assert solution.right, solution
    assert baseline.right, baseline
    assert not of_stub.right
    for (name, (_, _, *values)), verdict in zip(mistakes.items(), of_mistakes, strict=True):
        text = reported(verdict)
        assert not verdict.right, name
        assert all(value in text for value in values), f"{name}: {text}"
        assert bool(verdict.difference) == ("raises" not in values), f"{name}: {text}"


def patched(codes, old, new):
    """Returns the first code that holds `old` exactly once, with `new` in its place."""
    return next(code for code in codes if code.count(old) == 1).replace(old, new)


def reported(verdict):
    """Returns a verdict's names and numbers without its sentences."""
    difference = verdict.difference
    if not difference:
        return f"raises {verdict.problem}"
    text = f"{difference.output}: {difference.expected}, {difference.got}"
    for kind, squares in (("extra", difference.extra), ("missing", difference.missing)):
        if squares:
            text += f"; {kind} {', '.join(map(chess.square_name, squares))}"
    return text


def verdicts(lab, codes):
    """Judges codes, of which the second is the baseline; none is raced."""
    if lab.alone:
        return [assess(lab.name, code, Trusted(), race=False) for code in codes]
    answers = build(lab, {f"answer_{i}": code for i, code in enumerate(codes)})
    return [verdict(lab, functions, answers["answer_1"]) for functions in answers.values()]


def verdict(lab, functions, baseline):
    try:
        return Verdict(lab, difference=lab.first_difference(functions, baseline))
    except Exception as error:
        return Verdict(lab, problem=repr(error))
