"""No call of the library takes another number of instructions than the one that is recorded."""

import pytest

from rungs._src.native import gpp
from rungs_course.measure import valgrind
from tests.proof.instructions import changed, counts, recorded


def test_a_change_of_five_percent_is_one_and_of_one_percent_none():
    before = {"a ply": 1000.0, "a leaf": 50.0}
    assert changed(before, {"a ply": 1010.0, "a leaf": 50.0}) == []
    more = changed(before, {"a ply": 1050.0, "a leaf": 50.0})
    assert more == ["a ply: 1,000.0 to 1,050.0, +5.0%"]
    assert changed(before, {"a ply": 950.0, "a leaf": 50.0}) == ["a ply: 1,000.0 to 950.0, -5.0%"]
    assert changed(before, {"a ply": 1000.0}) == ["a leaf: counted on one side only"]


@pytest.mark.system
@pytest.mark.skipif(not valgrind.have_valgrind(), reason="valgrind is not installed")
def test_instructions_are_those_recorded():
    compiler, before = recorded()
    if gpp.version() != compiler:
        pytest.skip(f"the counts are of {compiler}, and this is {gpp.version()}")
    found = changed(before, counts())
    assert not found, "`python -m tests.proof.instructions` records what is meant: " + str(found)
