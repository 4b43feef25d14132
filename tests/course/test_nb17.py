"""Notebook 17: the waterfall of versions, and their race."""

import numpy as np
import pandas as pd
import pytest

from rungs._src.chess.unpack import unpack_mask
from rungs.errors import MismatchError
from rungs_course.notebooks import nb17_versions


def test_gains_are_over_the_row_before_and_over_the_first():
    nanoseconds = {"python": 1000.0, "first": 100.0, "king": 50.0, "cpp": 200.0}
    rows = [
        (racer, repeat, 10, ply * (1 + repeat) * 1e-8)
        for racer, ply in nanoseconds.items()
        for repeat in range(3)
    ]
    times = pd.DataFrame(rows, columns=["racer", "repeat", "plies", "seconds"])
    table = nb17_versions.waterfall(times, 1e-7)
    assert table["racer"].tolist() == ["python", "first", "king", "cpp"]
    np.testing.assert_allclose(table["nanoseconds"], [2000, 200, 100, 400])
    np.testing.assert_allclose(table["relative"], [1, 10, 2, 0.25])
    np.testing.assert_allclose(table["absolute"], [1, 10, 20, 5])
    np.testing.assert_allclose(table["share"], [0.05, 0.5, 1, 0.25])


class Racer:
    """Takes half a second for each step; may err in the last action of the last board."""

    def __init__(self, games, errs=False):
        self.games, self.errs = games, errs

    def play(self, steps):
        self.masks = unpack_mask(self.games.masks[steps - 1])
        self.masks[-1, -1] ^= self.errs
        return 0.5 * steps


@pytest.fixture(scope="module")
def games():
    return nb17_versions.random_games(4, 6, seed=2)


@pytest.mark.parametrize(("seconds", "steps"), [(0.1, 1), (1.0, 2), (10.0, 6)])
def test_the_slow_play_fewer_steps(games, seconds, steps):
    effort = {"repeats": 2, "warmup": 0, "seconds": seconds}
    times = nb17_versions.race_versions({"slow": Racer(games)}, **effort)
    assert times["plies"].tolist() == [games.num_envs * steps] * 2


def test_nothing_is_timed_that_finds_other_actions(games):
    racers = {"right": Racer(games), "erring": Racer(games, errs=True)}
    with pytest.raises(MismatchError, match="erring"):
        nb17_versions.race_versions(racers, repeats=1, warmup=0, seconds=0.1)
