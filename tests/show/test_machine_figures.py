"""Figures say what they are asked to say, and widgets ask before they tell."""

import ipywidgets
import pandas as pd
import pytest

from rungs.show import figures, machine, style
from rungs.show.predict import predict_first
from rungs.studies import parallel


def texts(figure):
    axes = figure.axes[0]
    legend = axes.get_legend()
    labels = [text.get_text() for text in legend.get_texts()] if legend else []
    return labels + [text.get_text() for text in axes.texts]


@pytest.fixture
def times():
    rows = [
        (threads, 100, repeat, 1 / min(threads, 2) + repeat / 100)
        for threads in (1, 2, 4)
        for repeat in range(3)
    ]
    return pd.DataFrame(rows, columns=["threads", "num_envs", "repeat", "seconds"])


def test_more_threads_than_cores_are_marked(times):
    figure = machine.scaling(times, 2, law="Amdahl", serial=0.1, guess=(2, 1.5), measured=(2, 1.9))
    hollow = [
        line.get_xdata().tolist()
        for line in figure.axes[0].lines
        if line.get_marker() == "o" and line.get_markerfacecolor() == "white"
    ]
    assert hollow == [[4]]
    assert {"your guess", "measured now"} <= set(texts(figure))
    assert any("oversubscribed" in text for text in texts(figure))
    within = machine.scaling(times, 4, law="Amdahl", serial=0.1)
    assert not any("oversubscribed" in text for text in texts(within))


def test_oversubscribed_racers_are_marked():
    rows = [
        (racer, n, r, s) for racer, s in (("cpp", 2.0), ("x", 1.0)) for n in (1, 8) for r in (0, 1)
    ]
    frame = pd.DataFrame(rows, columns=["racer", "num_envs", "repeat", "seconds"])
    figure = figures.gains(parallel.gains(frame, "cpp"), "cpp", oversubscribed=["x"])
    assert "x (oversubscribed)" in texts(figure)


def test_a_roofline_names_its_roofs_and_points():
    points = pd.DataFrame([("ours", 0.5, 1e9)], columns=["name", "intensity", "performance"])
    figure = machine.roofline({"integers": 1e10}, {"L1": 1e11, "memory": 1e10}, points, title="t")
    said = " ".join(texts(figure))
    for name in ("integers, 10 Gop/s", "L1, 100 GB/s", "memory, 10 GB/s", "ours, 1 Gop/s"):
        assert name in said
    none = machine.roofline({"integers": 1e10}, {"L1": 1e11}, points.iloc[:0], title="t")
    assert "integers" in " ".join(texts(none))


def test_nothing_is_measured_before_a_guess():
    drawn, measured = [], []
    guess = ipywidgets.BoundedFloatText(1.0, min=0, max=10)
    threads = ipywidgets.SelectionSlider(options=[1, 2])

    def draw(choice, guess, found):
        drawn.append((choice, guess, found))
        return style.axes()[0]

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
