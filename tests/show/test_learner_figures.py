"""Figures of the learners' ladder."""

import pandas as pd

from rungs_course.show import learners as draw
from rungs_course.studies.learners import generation_shares


def test_lines_points_and_the_study_are_drawn():
    shares = generation_shares(pd.Series({"python": 1e-4, "cpp": 1e-7}), [1e3, 1e4, 1e5])
    points = pd.DataFrame(
        {"system": ["cpp"], "learner": ["torch"], "speed": [1e4], "share": [0.001]}
    )
    figure = draw.generation(shares, points, (0.6, 2e4))
    (axes,) = figure.axes
    drawn = {line.get_label(): line for line in axes.lines}
    assert drawn["behind python"].get_ydata().tolist() == shares["share"].tolist()[:3]
    star = drawn["the study's, on an A100, behind OpenSpiel: at least 60%"]
    assert (star.get_xdata()[0], star.get_ydata()[0]) == (2e4, 0.6)
    assert any(line.get_marker() == "s" for line in axes.lines)  # the second system's point


def test_wins_are_drawn_for_every_seed():
    rows = [
        (name, seed, steps, wins, 10)
        for name in ("torch", "fast")
        for seed in (0, 1)
        for steps, wins in ((0, 0), (100, 9))
    ]
    table = pd.DataFrame(rows, columns=["learner", "seed", "steps", "wins", "games"])
    (axes,) = draw.wins(table, over="steps").axes
    lines = [list(line.get_ydata()) for line in axes.lines]
    assert lines.count([0.0, 0.9]) == 4


def test_learners_are_told_their_rates():
    table = pd.DataFrame(
        {
            "learner": ["torch", "fast"],
            "steps_per_second": [10.0, 50.0],
            "low": [9.0, 40.0],
            "high": [11.0, 60.0],
            "gain": [1.0, 5.0],
            "share": [0.1, float("nan")],
        }
    )
    (axes,) = draw.ladder(table).axes
    told = [text.get_text() for text in axes.texts]
    assert told == ["10 steps/s, 1×, 10.0% of the peak", "50 steps/s, 5×"]
