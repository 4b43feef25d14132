"""Figures of CartPole's experiments."""

import pandas as pd
import pytest

from rungs_course.show import cartpole
from rungs_course.studies.cartpole import turning_points


def test_a_turning_point_is_marked_where_the_line_is_twice_its_call():
    rows = [
        ("cpp", count, repeat, count, 1e-6 + 1e-9 * count, 1e-6 + 1e-9 * count)
        for count in (1, 100, 10_000, 1_000_000)
        for repeat in range(3)
    ]
    columns = ["racer", "num_envs", "repeat", "plies", "seconds", "call"]
    times = pd.DataFrame(rows, columns=columns)
    (axes,) = cartpole.step_times(times, turning_points(times)).axes
    line, mark = axes.lines
    assert line.get_ydata() == pytest.approx([1e-6 + 1e-9 * x for x in line.get_xdata()])
    assert (mark.get_xdata()[0], mark.get_ydata()[0]) == pytest.approx((1000, 2e-6))


def test_every_rung_has_a_panel_of_its_work():
    rows = [
        (racer, count, work, repeat, work * count * 1e-6)
        for racer in ("torch", "cpp")
        for count in (4, 64)
        for work in (1, 10)
        for repeat in range(2)
    ]
    times = pd.DataFrame(rows, columns=["racer", "num_envs", "workload", "repeat", "call"])
    panels = cartpole.workloads(times).axes
    assert [axes.get_title() for axes in panels] == ["torch", "cpp"]
    drawn = [line for line in panels[0].lines if len(line.get_ydata())]  # the others: the legend's
    assert [list(line.get_ydata()) for line in drawn] == [
        pytest.approx([4e-6, 4e-5]),
        pytest.approx([64e-6, 64e-5]),
    ]


def test_growth_is_a_map_of_exponents():
    rows = [(r, n, i, e) for r, e in (("a", 1.0), ("b", 0.5)) for n in (64, 8) for i in range(3)]
    table = pd.DataFrame(rows, columns=["racer", "num_envs", "repeat", "exponent"])
    axes = cartpole.growth(table).axes[0]
    assert [text.get_text() for text in axes.texts] == ["1.00", "1.00", "0.50", "0.50"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["8", "64"]


def test_bars_stand_beside_their_bound():
    table = pd.DataFrame({"racer": ["cpp"], "alone": [1e8], "fused": [3e8], "bound": [2e8]})
    (axes,) = cartpole.fused(table).axes
    assert [text.get_text() for text in axes.texts] == ["100 M/s", "300 M/s"]
    (bound,) = axes.collections
    assert bound.get_segments()[0][0][0] == 2e8


@pytest.mark.parametrize("over", ["steps", "seconds"])
def test_learning_is_drawn_over_steps_and_seconds(over):
    means = pd.DataFrame(
        {"system": "a", "steps": [0, 9], "seconds": [0, 2.0], "reward": [9.0, 400.0]}
        | {"low": [8.0, 300.0], "high": [10.0, 520.0]}
    )
    (axes,) = cartpole.learning(means, over).axes
    line = axes.lines[0]
    assert list(line.get_xdata()) == list(means[over])
    assert list(line.get_ydata()) == [9, 400]
