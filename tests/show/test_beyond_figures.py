"""Figures beyond one node say how far a prediction is off, and what is oversubscribed."""

import pandas as pd
import pytest

from rungs_course.show import beyond
from rungs_course.studies import cost_model, rank_costs
from rungs_course.studies.cost_model import Line, Link, Update

LINK = Link(1e-4, 1e9)
UPDATE = Update({part: Line(0.01, 1e-5) for part in cost_model.COMPUTE}, 16, 32_000_000)


def texts(axes):
    return [text.get_text() for text in axes.texts]


def test_messages_of_too_many_processes_are_hollow():
    rows = [(p, size, 0, size * p * 1e-9) for p in (2, 3) for size in (8, 2**20)]
    times = pd.DataFrame(rows, columns=["processes", "bytes", "repeat", "seconds"])
    (axes,) = beyond.messages(times, LINK, 2).axes
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert "2 processes, measured" in labels
    assert "3 processes (oversubscribed), measured" in labels
    hollow = [line for line in axes.lines if line.get_markerfacecolor() == "white"]
    assert len(hollow) == 1


def test_predictions_stand_beside_what_was_measured_with_their_error():
    parts = ("generate", "infer", "backward", "wait", "all-reduce")
    rows = [
        (p, 4, 128, 16 * (p > 1), 32_000_000 * (p > 1), exchange, repeat, part, 0.02)
        for p in (1, 4)
        for exchange in (("none",) if p == 1 else rank_costs.EXCHANGES)
        for repeat in range(2)
        for part in parts
    ]
    rows += [(1, 8, 256, 0, 0, "none", 0, part, 0.03) for part in parts]
    names = ["processes", "num_envs", "positions", "messages", "bytes", "exchange", "repeat"]
    updates = pd.DataFrame(rows, columns=[*names, "part", "seconds"])
    checked = cost_model.check(updates, UPDATE, LINK, {1: 1.0, 4: 2.0})
    (axes,) = beyond.check(checked, 2).axes
    for error in checked["error"]:
        assert f"predicted\n{error:+.0%}" in texts(axes)
    assert [tick.get_text() for tick in axes.get_xticklabels()] == [
        "1 process",
        "4 processes\n(oversubscribed)",
    ]


def test_what_is_shared_is_drawn_beside_what_cores_explain():
    ratios = pd.DataFrame([[1.0, 1.0], [1.2, 1.4], [2.1, 2.3]], index=[1, 2, 4])
    ratios = ratios.rename_axis("processes").rename_axis("repeat", axis="columns")
    (axes,) = beyond.beside(ratios, 2).axes
    labels = [tick.get_text() for tick in axes.get_xticklabels()]
    assert labels == ["2 processes", "4 processes\n(oversubscribed)"]
    heights = [lines.get_segments()[0][0][1] for lines in axes.collections[2:]]
    assert heights == pytest.approx([1.3, 1.0, 2.2, 2.0])


def test_efficiency_is_written_down_where_it_is_asked_for():
    nodes = [1, 4, 16]
    frames = {"slow": cost_model.scale(UPDATE, LINK, nodes, 1000)}
    figure = beyond.nodes(frames, frames, mark=4, title="tested")
    assert figure.get_suptitle() == "tested"
    expected = frames["slow"]["efficiency"][1]
    written = [text for axes in figure.axes for text in texts(axes)]
    assert written == [f"4 nodes\nslow: {expected:.1%}"] * 2
    assert not any(texts(axes) for axes in beyond.nodes(frames, frames).axes)


def test_limits_of_a_learner_are_named():
    (axes,) = beyond.feeding({"fast": 1e3}, {"its update": 5e4}, 64).axes
    assert texts(axes) == ["its update: 50 k/s"]


def test_savings_are_marked_where_they_can_be_reached():
    replaced = {"all": (1e-4, 0.0), "a third": (1e-4, 6.7e-5)}
    (axes,) = beyond.savings(replaced, (0.25, 0.5), {"here": 1e4}).axes
    points = [
        (line.get_xdata()[0], line.get_ydata()[0])
        for line in axes.lines
        if line.get_marker() not in ("None", None, "")
    ]
    assert points == [
        pytest.approx((1 / 3e-4, 25)),
        pytest.approx((1e4, 50)),
        pytest.approx((1 / 3.2e-5, 25)),
    ]
    assert "here" in [text.get_text() for text in axes.get_legend().get_texts()]
