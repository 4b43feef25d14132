"""What figures of repeats show, and that their style stays in them."""

import matplotlib
import pandas as pd
import pytest

from rungs_course import plots

REPEATS = [5.0, 1.0, 9.0, 2.0]


def ends(axes):
    """The lowest and the highest point of a band."""
    (band,) = axes.collections
    heights = band.get_paths()[0].vertices[:, 1]
    return heights.min(), heights.max()


def test_a_line_goes_through_medians_in_a_band_between_quartiles():
    frame = pd.DataFrame({"num_envs": 8, "rate": REPEATS})
    _, axes = plots.axes()
    plots.median_line(axes, frame.groupby("num_envs")["rate"], "cpp", {"color": plots.BLUE})
    (line,) = axes.lines
    assert line.get_label() == "cpp"
    assert list(line.get_ydata()) == [frame["rate"].median()]
    assert ends(axes) == pytest.approx(tuple(frame["rate"].quantile([0.25, 0.75])))


def test_a_band_is_what_the_frame_says():
    frame = pd.DataFrame({"steps": [1, 2], "score": [5, 6], "low": [4, 3], "high": [6, 9]})
    _, axes = plots.axes()
    plots.band_line(axes, frame, "steps", "score", "cpp", {"color": plots.BLUE})
    assert list(axes.lines[0].get_ydata()) == [5, 6]
    assert ends(axes) == (3, 9)


def test_every_repeat_is_a_dot_and_their_median_a_bar():
    rates = pd.DataFrame({"racer": "g++", "name": "g++, bits mask", "rate": REPEATS})
    (axes,) = plots.repeats(rates, "plies per second", "t").axes
    (bar,) = axes.patches
    assert bar.get_width() == pytest.approx(rates["rate"].median())
    (dots,) = axes.collections
    assert sorted(dots.get_offsets()[:, 0]) == pytest.approx(sorted(REPEATS))
    assert [label.get_text() for label in axes.get_yticklabels()] == ["g++, bits mask"]


def test_settings_of_others_stay_as_they_are():
    before = dict(matplotlib.rcParams)
    plots.axes()
    assert dict(matplotlib.rcParams) == before
