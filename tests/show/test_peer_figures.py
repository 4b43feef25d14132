"""Figures of our environments beside others."""

import pandas as pd
import pytest

from rungs_course.show import peers, widgets

OURS = "rungs"


def times():
    seconds = {OURS: 0.001, "other": 0.5}
    rows = [
        (racer, boards, repeat, 4 * boards, each * (repeat + 1))
        for racer, each in seconds.items()
        for boards in (2, 64)
        for repeat in range(3)
    ]
    return pd.DataFrame(rows, columns=["racer", "num_envs", "repeat", "plies", "seconds"])


def lines(figure):
    (axes,) = figure.axes
    return {line.get_label(): list(line.get_ydata()) for line in axes.lines}


def test_rates_are_medians_over_the_number_of_boards():
    drawn = lines(peers.rates(times(), "boards", "One thread"))
    assert drawn[OURS] == pytest.approx([8 / 0.002, 256 / 0.002])
    assert drawn["other"] == pytest.approx([8, 256])


def test_a_step_of_all_boards_takes_as_long_as_it_does():
    drawn = lines(peers.step_times(times()))
    assert drawn["other"] == pytest.approx([0.25, 0.25])


def test_bars_say_how_many_times_as_fast_ours_is():
    figure = peers.bars(times().query("num_envs == 64"), OURS, "64 boards")
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.texts] == ["256/s, 500×", "128 k/s"]


def test_the_widget_draws_every_number_of_boards():
    widget = widgets.explore_peers(times(), OURS)
    (slider,) = widget.children[:1]
    assert slider.options == (2, 64)
    assert slider.value == 64
