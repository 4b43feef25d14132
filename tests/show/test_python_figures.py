"""Figures and widgets of the Python rungs."""

import pandas as pd
import pytest

from rungs_course.show import pool, python_rung
from rungs_course.studies import pool_timeline

SHARES = pd.DataFrame({"part": ["moves", "mask", "rest"], "share": [0.5, 0.1, 0.4]})


def said(axes):
    return [text.get_text() for text in axes.texts]


def test_a_part_of_half_the_time_has_a_limit_of_two():
    (axes,) = python_rung.amdahl_lines(SHARES, "moves", 2).axes
    assert "if it took no time: 2×" in said(axes)
    assert {"moves, 50%", "mask, 10%", "rest, 40%"} <= {*said(axes)}
    (dot,) = [line for line in axes.lines if line.get_marker() == "o"]
    assert dot.get_ydata() == pytest.approx([4 / 3])
    assert axes.get_title() == "moves 2 times as fast: a step 1.33×"


def test_the_readers_part_is_drawn():
    widget = python_rung.explore_amdahl(SHARES)
    part, faster = widget.children[:2]
    assert part.options == ("moves", "mask", "rest")
    assert faster.value in faster.options


def test_games_age_by_all_plies_played_and_not_only_those_timed():
    rows = [(racer, i, 80, 1e-3) for racer in ("is_repetition", "counter") for i in range(6)]
    times = pd.DataFrame(rows, columns=["racer", "repeat", "plies", "seconds"]).assign(num_envs=2)
    (axes,) = python_rung.aging(times).axes
    assert axes.lines[0].get_xdata().tolist() == [75, 225]  # 40 steps timed, 10 before
    assert axes.lines[0].get_ydata() == pytest.approx([12.5, 12.5])


def test_a_promise_is_drawn_to_one_scale():
    figure = pool.timeline(pool_timeline.promised(5, 3.0, 0.1), "s", same_scale=True)
    above, below = figure.axes
    assert above.get_xlim() == below.get_xlim()
    assert len(above.patches) == len(below.patches) == 6
    labels = [label.get_text() for label in above.get_yticklabels()]
    assert labels == ["agent", *[f"environment {i}" for i in range(1, 6)]]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["step the boards", "learn"]


def test_parts_are_drawn_in_per_cent_and_kinds_added_up():
    seconds = dict(zip(pool_timeline.PARTS, (1.0, 2.0, 10.0, 1.0, 2.0, 3.0, 1.0), strict=True))
    rows = [(turn, part, value) for turn in (0, 1) for part, value in seconds.items()]
    table = pd.DataFrame(rows, columns=["turn", "part", "seconds"])
    assert pool.kinds(table).to_dict() == {
        "step the boards": 10,
        "wake up": 2,
        "pickle and unpickle": 4,
        "through the pipe": 3,
        "copy into place": 1,
    }
    (axes,) = pool.parts({"8 boards": table}).axes
    assert sum(patch.get_width() for patch in axes.patches) == pytest.approx(100)
    assert said(axes) == ["20 s"]
    hatches = [patch.get_hatch() for patch in axes.patches]
    assert len(set(hatches)) == len(hatches) == 5


@pytest.fixture
def times():
    rows = [
        (racer, boards, repeat, seconds)
        for racer, seconds in (("python", 2.0), ("queue", 1.0), ("shared", 0.5))
        for boards in (2, 32)
        for repeat in (0, 1)
    ]
    return pd.DataFrame(rows, columns=["racer", "num_envs", "repeat", "seconds"])


def test_ways_are_drawn_beside_the_loop(times):
    (axes,) = pool.ways(times, ("queue", "shared"), "title", 2).axes
    assert "a loop on each of 2 cores" in said(axes)
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    assert names == ["queue", "shared"]


def test_processes_are_guessed_before_they_are_measured(times):
    *controls, guessing, _ = pool.predict_processes(times, 2, seed=0).children
    assert [each.description for each in controls] == ["boards", "processes", "transport"]
    guess, button = guessing.children
    assert button.disabled
    guess.value = 1.5
    assert not button.disabled
