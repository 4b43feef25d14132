"""What rungs gain over another."""

import numpy as np
import pandas as pd

from rungs._src.chess.policy import random_actions
from rungs_course import nb04_openmp
from rungs_course.measure import over_boards


def test_a_gain_is_how_many_times_as_fast_a_racer_is_repeat_by_repeat():
    rows = [
        (racer, 64, repeat, machine * seconds)
        for repeat, machine in enumerate((1.0, 3.0, 2.0))  # how slow it is at the moment
        for racer, seconds in (("python", 8.0), ("cpp", 0.5))
    ]
    times = pd.DataFrame(rows, columns=["racer", "num_envs", "repeat", "seconds"])
    (row,) = over_boards.gains(times, "python").itertuples()
    assert (row.racer, row.num_envs) == ("cpp", 64)
    assert row.low == row.gain == row.high == 16


def test_both_ways_of_overlapping_are_timed():
    def policy(observation, mask):
        return random_actions(mask, rng)

    rng = np.random.default_rng(0)
    how = {"seed": 0, "steps": 2, "repeats": 2, "warmup": 0}
    times = nb04_openmp.overlaps(8, {"random": policy}, **how)
    assert times["way"].value_counts().to_dict() == {"in turn": 2, "overlapping": 2}
    assert (times["whole"] > 0).all()
