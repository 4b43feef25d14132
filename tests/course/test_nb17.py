"""Notebook 17: the waterfall of versions, their race, and their instructions."""

import numpy as np
import pandas as pd
import pytest

from rungs._src.chess.unpack import unpack_mask
from rungs.errors import MismatchError
from rungs_course import compiled, nb17_versions
from rungs_course.measure.valgrind import have_valgrind


@pytest.fixture(scope="module")
def games():
    return nb17_versions.random_games(4, 6, seed=2)


def times(**nanoseconds):
    rows = [
        (racer, repeat, 10, ns * (1 + repeat) * 1e-8)
        for racer, ns in nanoseconds.items()
        for repeat in range(3)
    ]
    return pd.DataFrame(rows, columns=["racer", "repeat", "plies", "seconds"])


def test_gains_are_over_the_row_before_and_over_the_first():
    table = nb17_versions.waterfall(times(python=1000.0, first=100.0, king=50.0, cpp=200.0), 1e-7)
    assert table["racer"].tolist() == ["python", "first", "king", "cpp"]
    np.testing.assert_allclose(table["nanoseconds"], [2000, 200, 100, 400])
    np.testing.assert_allclose(table["relative"], [1, 10, 2, 0.25])
    np.testing.assert_allclose(table["absolute"], [1, 10, 20, 5])
    np.testing.assert_allclose(table["share"], [0.05, 0.5, 1, 0.25])


class Wrong:
    """A racer that errs in the last action of the last board."""

    def __init__(self, games):
        self.masks = unpack_mask(games.masks[0])
        self.masks[-1, -1] ^= True

    def play(self, steps):
        return 1.0


def test_nothing_is_timed_that_finds_other_actions(games):
    with pytest.raises(MismatchError, match="wrong: its legal actions differ"):
        nb17_versions.race_versions(
            games, {"wrong": Wrong(games)}, repeats=1, warmup=0, seconds=0.1
        )


def test_all_rows_race_and_the_slow_play_fewer_steps(games):
    racers = nb17_versions.racers(games, compiled.load_steps(*nb17_versions.NATIVE))
    assert list(racers) == list(nb17_versions.ALL)
    frame = nb17_versions.race_versions(games, racers, repeats=2, warmup=0, seconds=2e-4)
    plies = frame.groupby("racer")["plies"].first()
    assert plies["python"] == games.num_envs
    assert plies["bytes"] == games.num_envs * games.steps
    assert frame["racer"].drop_duplicates().tolist() == list(racers)


@pytest.mark.system
@pytest.mark.skipif(not have_valgrind(), reason="valgrind is not installed")
def test_instructions_are_counted_the_same_twice(games):
    counts = nb17_versions.instructions(games)
    pd.testing.assert_frame_equal(counts, nb17_versions.instructions(games))
    by_name = counts.set_index("racer")
    assert by_name["instructions"]["first"] > by_name["instructions"]["king"]
    assert (by_name["mispredicted"] < by_name["branches"]).all()
