"""Figures of threads, ranks and warps say what their data do; widgets draw them again."""

import numpy as np
import pandas as pd
import pytest

from rungs_course.show import ranks as draw_ranks
from rungs_course.show import teams as draw_teams
from rungs_course.show import warps as draw_warps
from rungs_course.studies import cuda, teams
from rungs_course.studies.teams import StepCost

COST = StepCost(ply=1e-7, call=2e-6, meeting=3e-6)
MEASURED = pd.DataFrame({"num_envs": [512], "threads": [2], "speedup": [1.7]})


def followed():
    loops = {"keys": np.arange(64) % 7, "planes": 1 + np.arange(64) % 5, "ended": 0}
    return pd.concat(pd.DataFrame({"ply": ply, "board": range(64)} | loops) for ply in range(3))


def works():
    rows = []
    for step in (1, 2, 3):
        for rank in (0, 1):
            kinds = ("order", "check", "agree", "play", "agree")
            times = np.arange(6) * step * 1e-6
            pieces = zip(kinds, times, times[1:], strict=False)
            rows += [("shared", rank, step, *piece) for piece in pieces]
    return pd.DataFrame(rows, columns=["transport", "rank", "step", "work", "begin", "end"])


def test_lines_move_in_one_way_of_three():
    figure = draw_teams.cache_lines(teams.writes(32, 2))
    titles = [axes.get_title() for axes in figure.axes[:3]]
    assert titles == [
        "naive: lines move 30 times",
        "chunked: lines move 0 times",
        "padded: lines move 0 times",
    ]


def test_what_is_lost_has_a_row_for_each_part():
    rows = [(64, r, part, 0.1 * r) for r in range(3) for part in ("side by side", "calls")]
    shares = pd.DataFrame(rows, columns=["num_envs", "repeat", "part", "share"])
    (axes,) = draw_teams.lost(shares).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["side by side", "calls"]


def test_a_step_of_median_length_is_drawn():
    (axes,) = draw_ranks.step(works()).axes
    assert axes.get_title() == "shared, step 2"


def test_a_ring_has_a_heat_map_for_each_round():
    assert len(draw_ranks.ring_rounds(3).axes) == 5


def test_a_warp_says_which_share_is_at_work():
    axes = draw_warps.warp(followed(), 0, lanes=7).axes
    assert axes[0].get_title().endswith("50% at work")


def test_layouts_say_how_much_of_their_sectors_is_used():
    titles = [axes.get_title() for axes in draw_warps.layouts(cuda.fetched(512)).axes]
    assert titles == [
        "array of structures: 32 sectors, 25% used",
        "structure of arrays: 8 sectors, 100% used",
    ]


@pytest.mark.parametrize(
    ("widget", "control", "value"),
    [
        (lambda: draw_teams.explore_threads(COST, MEASURED), "threads", 64),
        (lambda: draw_teams.explore_threads(COST, MEASURED, "ranks"), "boards", 8),
        (lambda: draw_ranks.explore_step(works()), "step", 3),
        (lambda: draw_warps.explore_warp(followed()), "lanes", 8),
    ],
)
def test_a_widget_draws_what_is_chosen(widget, control, value, monkeypatch):
    drawn = []
    for module in (draw_teams, draw_ranks, draw_warps):
        monkeypatch.setattr(module, "display", lambda shown: drawn.append(shown.data))
    shown = widget()
    shown.update()
    before = drawn[-1]
    (slider,) = [child for child in shown.children if getattr(child, "description", "") == control]
    slider.value = value
    assert drawn[-1] != before
