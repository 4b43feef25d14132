"""Mutants that still apply. Whether tests kill them, `python -m tests.proof.mutants` tells."""

from pathlib import Path

from tests.proof.mutants import MUTANTS, TIERS

ROOT = Path(__file__).parents[2]


def test_every_mutant_changes_what_is_there_otherwise_than_the_rest():
    assert MUTANTS
    for mutant in MUTANTS:
        changed = mutant.changed(ROOT)
        assert changed != (ROOT / mutant.file).read_text(), mutant.fault
        if mutant.file.endswith(".py"):
            compile(changed, mutant.fault, "exec")
    assert len({(each.file, each.old, each.new) for each in MUTANTS}) == len(MUTANTS)


def test_the_tests_that_cover_them_are_there():
    for mutant in MUTANTS:
        assert mutant.tests, mutant.fault
        assert mutant.tier in TIERS, mutant.fault
        for test in mutant.tests:
            file, *names = test.split("::")
            text = (ROOT / file).read_text()
            assert all(f" {name}(" in text or f" {name}:" in text for name in names), test
