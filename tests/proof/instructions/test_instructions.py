"""No call of the library takes far more instructions than are recorded, nor far fewer."""

import warnings

import pytest

from rungs._src.native import gpp
from tests.proof.instructions import REFUSED, REPORTED, changed, counts, recorded


def test_what_differs_beyond_a_limit_is_listed():
    before = {"a ply": 1000.0, "a leaf": 50.0}
    assert changed(before, {"a ply": 1010.0, "a leaf": 50.0}, REPORTED) == []
    for ply in (1050.0, 950.0):
        (line,) = changed(before, {"a ply": ply, "a leaf": 50.0}, REPORTED)
        assert line.startswith("a ply")
    assert changed(before, {"a ply": 1050.0, "a leaf": 50.0}, REFUSED) == []
    (line,) = changed(before, {"a ply": 1000.0}, REFUSED)
    assert line.startswith("a leaf")


@pytest.mark.release
@pytest.mark.system
@pytest.mark.needs("valgrind")
def test_instructions_are_those_recorded():
    compiler, before = recorded()
    if gpp.version() != compiler:
        pytest.skip(f"the counts are of {compiler}, and this is {gpp.version()}")
    now = counts()
    for line in changed(before, now, REPORTED):
        warnings.warn(line, stacklevel=1)
    assert not changed(before, now, REFUSED)
