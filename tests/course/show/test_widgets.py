"""Widgets draw what is chosen, and ask before they measure."""

import ipywidgets
import pandas as pd
import pytest

from rungs_course import (
    nb00_start,
    nb01_python,
    nb02_parallel,
    nb04_figures,
    nb05_figures,
    nb06_cuda,
    plots,
    widgets,
)
from rungs_course import nb12_peers as nb12
from rungs_course import nb16_search as nb16
from rungs_course.nb04_openmp import StepCost
from rungs_course.widgets import predict_first
from tests.course.show import test_figures as drawn_by

COST = StepCost(ply=1e-7, call=2e-6, meeting=3e-6)
MEASURED = pd.DataFrame({"num_envs": [512], "threads": [2], "speedup": [1.7]})


@pytest.mark.parametrize(
    ("widget", "control", "value"),
    [
        (lambda: nb04_figures.explore_threads(COST, MEASURED), "threads", 64),
        (lambda: nb04_figures.explore_threads(COST, MEASURED, "ranks"), "boards", 8),
        (lambda: nb05_figures.explore_step(drawn_by.a_step_of_ranks()), "step", 3),
        (lambda: nb06_cuda.explore_warp(drawn_by.loops_of_boards()), "lanes", 8),
    ],
)
def test_a_widget_draws_what_is_chosen(widget, control, value, monkeypatch):
    drawn = []
    monkeypatch.setattr(widgets, "display", lambda shown: drawn.append(shown.data))
    shown = widget()
    shown.update()
    before = drawn[-1]
    (slider,) = [child for child in shown.children if getattr(child, "description", "") == control]
    slider.value = value
    assert drawn[-1] != before


def test_a_widget_offers_what_there_is():
    slider, *_ = nb12.explore_peers(drawn_by.races("rungs", "other"), "rungs").children
    assert slider.options == (8, 64)
    part, *_ = nb01_python.explore_amdahl(drawn_by.shares_of_parts()).children
    assert part.options == ("moves", "mask", "rest")
    slider, *_ = nb16.explore_search(drawn_by.grown(), drawn_by.FEN).children
    assert list(slider.options) == [1, 2, 9]
    slider, *_ = nb00_start.explore_game(nb00_start.play(nb00_start.OPERA_GAME)).children
    assert (slider.min, slider.max, slider.value) == (1, 33, 33)


def test_processes_are_guessed_before_they_are_measured():
    times = drawn_by.races("python", "queue", "shared")
    *_, guessing, _ = nb02_parallel.predict_processes(times, 2, seed=0).children
    guess, button = guessing.children
    assert button.disabled
    guess.value = 1.5
    assert not button.disabled


def test_nothing_is_measured_before_a_guess():
    drawn, measured = [], []
    guess = ipywidgets.BoundedFloatText(1.0, min=0, max=10)
    threads = ipywidgets.SelectionSlider(options=[1, 2])

    def draw(choice, guess, found):
        drawn.append((choice, guess, found))
        return plots.axes()[0]

    def measure(choice):
        measured.append(choice)
        return 1.5

    box = predict_first(draw, measure, {"threads": threads}, guess)
    button = box.children[1].children[1]
    assert drawn == [({"threads": 1}, 1.0, None)]
    assert button.disabled
    guess.value = 1.8
    assert not button.disabled
    button.click()
    assert measured == [{"threads": 1}]
    assert drawn[-1] == ({"threads": 1}, 1.8, 1.5)
    threads.value = 2  # another question, another guess
    assert button.disabled
    assert drawn[-1] == ({"threads": 2}, 1.8, None)
