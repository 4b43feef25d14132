"""Figures of systems that learn."""

import pandas as pd
import pytest

from rungs.show import training
from rungs.train.cost import PARTS


def updates():
    times = {"python": 8, "openmp": 0.5, "null": 0}
    rows = [
        (racer, repeat, boards, part, boards * (generate if part == "generate" else 1) * 1e-3)
        for racer, generate in times.items()
        for repeat in range(3)
        for boards in (8, 64)
        for part in PARTS
    ]
    return pd.DataFrame(rows, columns=["racer", "repeat", "num_envs", "part", "seconds"])


def texts(figure):
    (axes,) = figure.axes
    return [text.get_text() for text in axes.texts]


def test_throughput_has_a_line_per_system_and_one_for_what_is_free():
    (axes,) = training.throughput(updates()).axes
    lines = {line.get_label(): line.get_ydata() for line in axes.lines}
    assert lines["an environment that costs nothing"] == pytest.approx([1 / 0.024, 1 / 0.192])
    assert lines["python"] == pytest.approx([1 / 0.088, 1 / 0.704])
    assert "null" not in lines


def test_parts_of_an_update_stand_on_one_another_the_slowest_first():
    chosen = updates().query("num_envs == 8")
    figure = training.parts(chosen, "racer", "An update")
    assert texts(figure)[0] == "88 ms, 72.7% to generate"
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["python", "openmp", "null"]
    assert len(axes.patches) == 3 * len(PARTS)


@pytest.mark.parametrize("over", ["steps", "seconds"])
def test_learning_curves_have_a_line_per_rung(over):
    rows = [(r, 10 * i, i * k, 0.5 + i / 10) for r, k in (("a", 1), ("b", 2)) for i in range(3)]
    frame = pd.DataFrame(rows, columns=["rung", "steps", "seconds", "score"])
    frame = frame.assign(low=frame["score"] - 0.1, high=frame["score"] + 0.1)
    (axes,) = training.learning(frame, over).axes
    curves = {line.get_label(): list(line.get_xdata()) for line in axes.lines}
    assert curves["b"] == ([0, 10, 20] if over == "steps" else [0, 2, 4])


def test_overlap_has_a_line_per_way():
    rows = [(way, n, i, n * 1e-5) for way in ("a", "b") for n in (8, 16) for i in range(2)]
    frame = pd.DataFrame(rows, columns=["racer", "num_envs", "repeat", "seconds"])
    (axes,) = training.asynchronous(frame).axes
    assert [line.get_label() for line in axes.lines] == ["a", "b"]
