"""Where the factor comes from, worked out of times; and what is refused."""

import numpy as np
import pandas as pd
import pytest

from rungs._src.chess.actions import NUM_ACTIONS
from rungs.errors import MismatchError
from rungs_course import compiled, nb03_cpp
from rungs_course.measure.valgrind import have_valgrind


@pytest.fixture(scope="module")
def games():
    return nb03_cpp.random_games(4, 6, seed=2)


def times(**nanoseconds):
    rows = [
        (racer, repeat, 10, ns * (1 + repeat) * 1e-8)
        for racer, ns in nanoseconds.items()
        for repeat in range(3)
    ]
    return pd.DataFrame(rows, columns=["racer", "repeat", "plies", "seconds"])


def test_gains_are_over_the_row_before_and_over_the_first():
    table = nb03_cpp.waterfall(times(python=1000.0, first=100.0, king=50.0, cpp=200.0), 1e-7)
    assert table["racer"].tolist() == ["python", "first", "king", "cpp"]
    np.testing.assert_allclose(table["nanoseconds"], [2000, 200, 100, 400])
    np.testing.assert_allclose(table["relative"], [1, 10, 2, 0.25])
    np.testing.assert_allclose(table["absolute"], [1, 10, 20, 5])
    np.testing.assert_allclose(table["share"], [0.05, 0.5, 1, 0.25])


def test_the_waterfall_writes_every_factor():
    table = nb03_cpp.waterfall(times(python=1000.0, first=100.0, king=50.0, cpp=200.0), 1e-7)
    (axes,) = nb03_cpp.draw_waterfall(table, 100.0).axes
    texts = [text.get_text() for text in axes.texts]
    assert texts[:4] == ["2 µs", "200 ns  10×", "100 ns  2×", "400 ns  0.25×"]


class Wrong:
    """A racer that finds something else."""

    def __init__(self, games):
        self.masks = np.zeros((games.num_envs, NUM_ACTIONS), np.bool_)

    def play(self, steps):
        return 1.0


def test_nothing_is_timed_that_finds_other_actions(games):
    with pytest.raises(MismatchError, match="wrong: other legal actions"):
        nb03_cpp.race_versions(games, {"wrong": Wrong(games)}, repeats=1, warmup=0, seconds=0.1)


def test_all_rows_race_and_the_slow_play_fewer_steps(games):
    racers = nb03_cpp.racers(games, compiled.load_steps(*nb03_cpp.NATIVE))
    assert list(racers) == list(nb03_cpp.ALL)
    frame = nb03_cpp.race_versions(games, racers, repeats=2, warmup=0, seconds=2e-4)
    plies = frame.groupby("racer")["plies"].first()
    assert plies["python"] == games.num_envs
    assert plies["bytes"] == games.num_envs * games.steps
    assert frame["racer"].drop_duplicates().tolist() == list(racers)


@pytest.mark.system
@pytest.mark.skipif(not have_valgrind(), reason="valgrind is not installed")
def test_instructions_are_counted_the_same_twice(games):
    counts = nb03_cpp.instructions(games)
    pd.testing.assert_frame_equal(counts, nb03_cpp.instructions(games))
    by_name = counts.set_index("racer")
    assert by_name["instructions"]["first"] > by_name["instructions"]["king"]
    assert (by_name["mispredicted"] < by_name["branches"]).all()
