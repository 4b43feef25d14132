"""Notebook 04: counters lose no increments, and time stamps say when threads ran."""

import numpy as np
import pandas as pd
import pytest

from rungs.errors import MismatchError
from rungs_course.measure import over_boards
from rungs_course.notebooks import nb04_openmp


def test_a_gain_is_how_many_times_as_fast_a_racer_is_repeat_by_repeat():
    seconds = {"python": (8.0, 24.0, 16.0), "cpp": (0.5, 1.5, 1.0)}
    rows = [(name, 64, i, value) for name in seconds for i, value in enumerate(seconds[name])]
    times = pd.DataFrame(rows, columns=["racer", "num_envs", "repeat", "seconds"])
    (row,) = over_boards.gains(times, "python").itertuples()
    assert (row.racer, row.num_envs) == ("cpp", 64)
    assert (row.low, row.gain, row.high) == pytest.approx((16, 16, 16))


@pytest.mark.parametrize("stride", [8, 64])
def test_all_threads_begin_a_turn_when_the_last_has_ended_the_one_before(stride):
    begin, end = nb04_openmp.count(stride, 3, times=100, turns=5)
    assert begin.shape == end.shape == (5, 3)
    assert (begin <= end).all()
    assert (begin[1:].min(axis=1) >= end[:-1].max(axis=1)).all()


def test_a_lost_increment_is_noticed(monkeypatch):
    class Course:
        def rungs_counters_count(self, *arguments):
            pass

    monkeypatch.setattr(nb04_openmp.compiled, "load_course", Course)
    with pytest.raises(MismatchError):
        nb04_openmp.count(8, 2, times=10, turns=1)


@pytest.mark.parametrize(
    ("begin", "end", "share"),
    [
        ([0.0, 0.0], [2.0, 2.0], 1),
        ([0.0, 1.0], [3.0, 4.0], 0.5),
        ([0.0, 1.0], [4.0, 2.0], 0.25),  # one within the other
        ([0.0, 3.0], [1.0, 4.0], 0),  # one after the other
        ([0.0, 1.0, 2.0], [3.0, 4.0, 4.0], 0.25),
        ([5.0], [6.0], 1),
    ],
)
def test_threads_overlap_while_all_run(begin, end, share):
    turn = np.array([begin]), np.array([end])
    assert nb04_openmp.overlap(*turn).tolist() == [pytest.approx(share)]
