"""A run that was killed goes on as if it had not been, whatever learns."""

import sys

import pytest

from rungs._src.train.learners import LEARNERS
from tests.library.train.test_training import LONG, assert_same_run, killed_after, train


@pytest.mark.system
@pytest.mark.parametrize("name", tuple(LEARNERS)[1:])
def test_a_killed_run_goes_on_as_if_it_had_not_been(name, tmp_path):
    how = [*LONG, "--learner", name]
    assert train(tmp_path / "unbroken", *how) == 0
    out = tmp_path / "run"
    killed_after(5, [sys.executable, "-m", "rungs", "train", "--out", str(out), *how], out)
    assert train(out, "--resume") == 0
    assert_same_run(out, tmp_path / "unbroken")
