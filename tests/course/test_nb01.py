"""Notebook 01: a Python rung that counts positions plays the same games, and Amdahl's law."""

import numpy as np
import pandas as pd
import pytest

import rungs
from rungs_course import nb01_python
from tests.proof import lockstep


@pytest.mark.parametrize("policy", ["uniform", "shuffling"])
def test_it_is_the_python_rung(policy):
    envs = (nb01_python.counting_env(4), rungs.make("chess", "python", 4))
    lockstep.play(*envs, seed=0, steps=150, policy=policy)


def test_a_position_that_comes_back_is_counted():
    env = nb01_python.counting_env(1)
    env.reset(seed=0)
    there_and_back = ("g1f3", "g8f6", "f3g1", "f6g8") * 2
    seen = []
    for uci in there_and_back:
        observation, *_, info = env.step([env.legal_moves(0)[uci]])
        seen.append(int(observation[0, 70]))
    assert seen[:7] == [0, 0, 0, 1, 1, 1, 1]
    assert info["reason"][0] == 5  # threefold


def test_a_search_takes_longer_in_an_older_game():
    found = nb01_python.search_seconds([8, 160], games=4, seed=0)
    assert set(found.groupby(["age", "how"]).size()) == {9}
    again = found[found["how"] == "again and again"].groupby("age")["seconds"].min()
    assert again[160] > 2 * again[8]  # it goes over twenty times as many positions


def test_half_of_the_time_bounds_the_gain_by_two():
    assert nb01_python.amdahl(0.5, 1) == 1
    assert nb01_python.amdahl(0.5, 2) == pytest.approx(4 / 3)
    assert nb01_python.amdahl(0.5, np.inf) == 2


def test_games_age_by_all_plies_played_and_not_only_those_timed():
    rows = [(racer, i, 80, 1e-3) for racer in ("is_repetition", "counter") for i in range(6)]
    times = pd.DataFrame(rows, columns=["racer", "repeat", "plies", "seconds"]).assign(num_envs=2)
    (axes,) = nb01_python.draw_aging(times).axes
    assert axes.lines[0].get_xdata().tolist() == [75, 225]  # 40 steps timed, 10 before
