"""Figures of systems that learn."""

import pandas as pd
import pytest

from rungs.train.ppo import PARTS
from rungs_course.show import training


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


def evaluations():
    """Two rungs that learn the same, of which the second comes further and is twice as slow."""
    rows = [
        (rung, 10 * i, i * slowness, 0.5 + i / 10)
        for rung, slowness, count in (("a", 1, 2), ("b", 2, 3))
        for i in range(count)
    ]
    frame = pd.DataFrame(rows, columns=["rung", "steps", "seconds", "score"])
    return frame.assign(low=frame["score"] - 0.1, high=frame["score"] + 0.1)


def test_learning_over_seconds_has_a_curve_per_rung():
    (axes,) = training.learning(evaluations(), "seconds").axes
    curves = {line.get_label(): list(line.get_xdata()) for line in axes.lines}
    assert curves["a"] == [0, 1]
    assert curves["b"] == [0, 2, 4]


def test_learning_over_steps_is_one_curve_with_a_marker_where_each_rung_stopped():
    (axes,) = training.learning(evaluations(), "steps").axes
    curves = {line.get_label(): (list(line.get_xdata()), line.get_marker()) for line in axes.lines}
    assert curves["all rungs"] == ([0, 10, 20], "None")
    stopped = [curves[f"{rung} stopped"] for rung in ("a", "b")]
    assert [steps for steps, _ in stopped] == [[10], [20]]
    assert len({marker for _, marker in stopped}) == 2


def test_what_overlapping_gains_has_a_marker_for_each_cause_and_a_bound():
    rows = [(t, n, r, 1.1, 0.5, 0.55, 1.3) for t in (1, 2) for n in (8, 64) for r in range(3)]
    columns = ["network_threads", "num_envs", "repeat", "halving", "at_once", "both", "bound"]
    panels = training.overlap(pd.DataFrame(rows, columns=columns)).axes
    titles = ["the network on 1 thread", "the network on 2 threads"]
    assert [axes.get_title() for axes in panels] == titles
    for axes in panels:
        medians = {
            line.get_marker(): list(line.get_ydata())
            for line in axes.lines
            if line.get_marker() in ("o", "s", "^") and len(line.get_ydata()) == 2
        }
        assert medians == {"o": [1.1, 1.1], "s": [0.5, 0.5], "^": [0.55, 0.55]}
        bounds = [
            segment[0][1]
            for each in axes.collections
            if hasattr(each, "get_segments")
            for segment in each.get_segments()
        ]
        assert bounds == [1.3, 1.3]


def test_models_are_compared_by_positions_per_second():
    rows = [
        (width, boards, repeat, boards, part, boards * width * 1e-6 / len(PARTS))
        for width in (32, 128)
        for boards in (8, 64)
        for repeat in range(3)
        for part in PARTS
    ]
    columns = ["width", "num_envs", "repeat", "positions", "part", "seconds"]
    (axes,) = training.models(pd.DataFrame(rows, columns=columns)).axes
    drawn = [list(line.get_ydata()) for line in axes.lines if len(line.get_ydata())]
    assert drawn == [pytest.approx([31250.0] * 2), pytest.approx([7812.5] * 2)]
