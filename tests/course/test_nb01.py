"""Notebook 01: a Python rung that counts positions plays the same games; flames; Amdahl's law."""

import numpy as np
import pandas as pd
import pytest

import rungs
from rungs_course.notebooks import nb01_python
from tests.course import notebooks
from tests.proof import lockstep


def test_it_is_the_python_rung():
    counting_env = notebooks.from_page("01_python")["counting_env"]
    envs = (counting_env(4), rungs.make("chess", "python", 4))
    lockstep.play(*envs, seed=0, steps=150, policy="shuffling")


def test_half_of_the_time_bounds_the_gain_by_two():
    gains = nb01_python.amdahl(0.5, np.array([1, 2, np.inf]))
    assert gains.tolist() == pytest.approx([1, 4 / 3, 2])


def test_games_age_by_all_plies_played_and_not_only_those_timed():
    rows = [(racer, i, 80, 1e-3) for racer in ("is_repetition", "counter") for i in range(6)]
    times = pd.DataFrame(rows, columns=["racer", "repeat", "plies", "seconds"]).assign(num_envs=2)
    (axes,) = nb01_python.draw_aging(times).axes
    assert axes.lines[0].get_xdata().tolist() == [75, 225]  # 40 steps timed, 10 before


def test_flames_are_as_wide_as_samples_and_stand_on_their_callers():
    rows = [("a.step;chess.push", 30), ("a.step;chess.look;chess.scan", 50), ("a.step", 20)]
    stacks = pd.DataFrame(rows, columns=["stack", "samples"])
    (axes,) = nb01_python.draw_flames(stacks).axes
    bars = [(bar.get_x(), bar.get_y() + 0.46, bar.get_width()) for bar in axes.patches]
    expected = [(0, 1, 100), (0, 2, 50), (0, 3, 50), (50, 2, 30)]
    np.testing.assert_allclose(bars, expected)
