"""Figures say what they are asked to say, and widgets ask before they tell."""

import ipywidgets
import pandas as pd
import pytest

from rungs_course.machine.roofline import CORRECTED, PAPER
from rungs_course.measure import peaks
from rungs_course.show import figures, machine, study, style
from rungs_course.show.predict import predict_first
from rungs_course.studies import parallel, scaling


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


def test_the_ideal_is_named_beside_the_lines():
    rows = [(racer, n, 0, 1.0) for racer in ("cpp", "x") for n in (1, 8)]
    frame = pd.DataFrame(rows, columns=["racer", "num_envs", "repeat", "seconds"])
    (axes,) = figures.gains(parallel.gains(frame, "cpp"), "cpp", ideal=2).axes
    assert not axes.texts
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["x", "ideal, 2×"]


def test_a_roofline_names_its_roofs_and_points():
    points = pd.DataFrame([("ours", 0.5, 1e9)], columns=["name", "intensity", "performance"])
    figure = machine.roofline({"integers": 1e10}, {"L1": 1e11, "memory": 1e10}, points, title="t")
    said = " ".join(texts(figure))
    for name in ("integers, 10 Gop/s", "L1, 100 GB/s", "memory, 10 GB/s", "ours, 1 Gop/s"):
        assert name in said
    none = machine.roofline({"integers": 1e10}, {"L1": 1e11}, points.iloc[:0], title="t")
    assert "integers" in " ".join(texts(none))


def test_points_stand_under_the_roofs_of_as_many_cores_as_they_use():
    # The second repeat was disturbed.
    rows = [
        (peak, n, r, n * 1e10 / (1 + r)) for peak in peaks.COMPUTE for n in (1, 2) for r in (0, 1)
    ]
    compute = pd.DataFrame(rows, columns=["peak", "threads", "repeat", "per_second"])
    rows = [("L1", "read", n, r, n * 1e11 / (1 + r)) for n in (1, 2) for r in (0, 1)]
    names = ["level", "stream", "threads", "repeat", "per_second"]
    bandwidth = pd.DataFrame(rows, columns=names)
    rows = [("cpp, bits mask", 0.3, 1e9), ("openmp, bits mask", 0.3, 2e9)]
    points = pd.DataFrame(rows, columns=["name", "intensity", "performance"])
    one, two = machine.rooflines(compute, bandwidth, points, 2).axes
    for axes, name, other, roof in (
        (one, "cpp", "openmp", "L1, 100 GB/s"),
        (two, "openmp", "cpp", "L1, 200 GB/s"),
    ):
        legend = " ".join(text.get_text() for text in axes.get_legend().get_texts())
        assert name in legend
        assert other not in legend
        assert roof in [text.get_text() for text in axes.texts]


def test_the_studys_curve_is_drawn_to_its_end(times):
    rows = [(1, 512, 1.0), (2, 512, 1.9), (64, 512, 15.0)]
    paper = pd.DataFrame(rows, columns=["threads", "boards", "speedup"])
    (axes,) = machine.scaling(times, 2, law="Amdahl", serial=0.1, paper=paper).axes
    (theirs,) = [line for line in axes.lines if line.get_label().startswith("the study's")]
    assert theirs.get_xdata().tolist() == [1, 2, 64]
    assert axes.get_xlim()[1] > 64


@pytest.mark.parametrize("law", ["Amdahl", "Gustafson"])
def test_the_law_that_made_a_papers_curve_is_found(law):
    threads = pd.Series([1, 2, 8, 64])
    boards = 100 * (threads if law == "Gustafson" else 1)
    speedup = scaling.predicted(law, 0.05, threads)
    paper = pd.DataFrame({"threads": threads, "boards": boards, "speedup": speedup})
    assert machine.paper_fraction(paper, law) == pytest.approx(0.05)


def test_what_is_lost_is_drawn_for_each_mask():
    rows = [(n, mask, r, 1e-6 * n) for n in (8, 64) for mask in ("bits", "bool") for r in (0, 1)]
    figure = machine.lost(pd.DataFrame(rows, columns=["num_envs", "mask", "repeat", "lost"]))
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["bits", "bool"]


def test_the_studys_rooflines_have_its_points_in_every_way():
    rows = [
        (name, per, x, y)
        for per, x in (("access, as drawn", 0.5), ("byte missing in L1", 70.0))
        for name, y in (("sequential", 17e9), ("OpenMP", 30e9))
    ]
    points = pd.DataFrame(rows, columns=["name", "per", "intensity", "performance"])
    figure = study.rooflines(list(zip(PAPER, CORRECTED, strict=True)), points)
    assert [axes.get_title() for axes in figure.axes] == [machine.name for machine in PAPER]
    (legend,) = figure.legends
    named = [text.get_text() for text in legend.get_texts()]
    assert named == ["sequential", "OpenMP", "per access, as drawn", "per byte missing in L1"]
    for axes in figure.axes:
        assert len(axes.collections[0].get_offsets()) == 4


def test_a_share_says_both_counts():
    table = pd.DataFrame({"count": ["loads"], "study": [1000.0], "ours": [250.0]})
    (axes,) = study.shares(table).axes
    assert [text.get_text() for text in axes.texts] == ["0.25×  (250 beside 1,000)"]


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
