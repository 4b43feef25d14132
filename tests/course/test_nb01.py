"""Notebook 01: a Python rung that counts positions plays the same games, and Amdahl's law."""

import numpy as np
import pandas as pd
import pytest

import rungs
from rungs._src.chess.reason import Reason
from rungs_course.notebooks import nb01_python
from tests.proof import lockstep


def test_it_is_the_python_rung():
    envs = (nb01_python.counting_env(4), rungs.make("chess", "python", 4))
    lockstep.play(*envs, seed=0, steps=150, policy="shuffling")


def test_a_position_that_comes_back_is_counted():
    env = nb01_python.counting_env(1)
    env.reset(seed=0)
    repetitions = []
    for uci in ("g1f3", "g8f6", "f3g1", "f6g8") * 2:
        observation, *_, info = env.step([env.legal_moves(0)[uci]])
        repetitions.append(observation[0, 70])
    assert repetitions[:7] == [0, 0, 0, 1, 1, 1, 1]
    assert info["reason"][0] == Reason.THREEFOLD_REPETITION


def test_half_of_the_time_bounds_the_gain_by_two():
    gains = nb01_python.amdahl(0.5, np.array([1, 2, np.inf]))
    assert gains.tolist() == pytest.approx([1, 4 / 3, 2])


def test_games_age_by_all_plies_played_and_not_only_those_timed():
    rows = [(racer, i, 80, 1e-3) for racer in ("is_repetition", "counter") for i in range(6)]
    times = pd.DataFrame(rows, columns=["racer", "repeat", "plies", "seconds"]).assign(num_envs=2)
    (axes,) = nb01_python.draw_aging(times).axes
    assert axes.lines[0].get_xdata().tolist() == [75, 225]  # 40 steps timed, 10 before
