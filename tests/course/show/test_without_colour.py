"""What colours tell apart, hatches, markers or strokes tell apart too."""

import pandas as pd
import pytest

from rungs._src.train.ppo import PARTS
from rungs_course import nb03_perft, nb04_figures, nb10_scaling, plots
from rungs_course import nb13_cartpole as nb13
from rungs_course import nb14_cost_model as nb14
from rungs_course.nb14_cost_model import Link


def hatches(figure):
    """The hatches of a figure's areas, by colour."""
    found = {}
    for axes in figure.axes:
        for patch in axes.patches:
            found.setdefault(patch.get_facecolor(), set()).add(patch.get_hatch())
    return list(found.values())


def strokes(axes):
    return [(line.get_linestyle(), line.get_marker()) for line in axes.lines]


def parts():
    rows = [("cpp", 0, part, 0.1) for part in PARTS]
    frame = pd.DataFrame(rows, columns=["racer", "repeat", "part", "seconds"])
    return plots.parts(frame, "racer", "An update")


def floor():
    return nb03_perft.draw_floor(
        pd.DataFrame([("bits", 100, 50, 20)], columns=["mask", "step", "rules", "writing"])
    )


def timelines():
    rows = [("", "infer", half, half, half + 0.5) for half in (0, 1)]
    return nb04_figures.draw_timelines(
        pd.DataFrame(rows, columns=["mode", "work", "half", "start", "end"])
    )


def fused():
    return nb13.draw_fused(
        pd.DataFrame({"racer": ["cpp"], "alone": [1], "fused": [3], "bound": [2]})
    )


@pytest.mark.parametrize("draw", [parts, floor, timelines, fused])
def test_every_colour_of_an_area_has_a_hatch_of_its_own(draw):
    found = hatches(draw())
    assert len(found) > 1
    assert all(len(each) == 1 for each in found)
    assert len(set.union(*found)) == len(found)


def test_there_is_a_hatch_for_each_part_of_an_update_on_ranks():
    assert len({look["hatch"] for look in nb14._FILLS.values()}) == len(nb14.PARTS)


def test_halves_are_named_by_a_legend():
    (legend,) = timelines().legends
    first, second = legend.get_patches()
    assert not first.get_hatch()
    assert second.get_hatch()


def test_lines_of_the_model_and_of_savings_have_strokes_of_their_own():
    rows = [(p, size, 0, size * p * 1e-9) for p in (2, 3, 4) for size in (8, 2**20)]
    times = pd.DataFrame(rows, columns=["processes", "bytes", "repeat", "seconds"])
    (axes,) = nb14.draw_messages(times, Link(1e-4, 1e9), 4).axes
    models = [line for line in axes.lines if "model" in str(line.get_label())]
    assert len({line.get_linestyle() for line in models}) == len(models) == 3
    (axes,) = nb14.draw_savings({"a": (1e-4, 0.0), "b": (1e-4, 5e-5)}, (), {}).axes
    assert len(set(strokes(axes))) == len(axes.lines) == 2


def test_lines_of_many_racers_differ_without_their_colours():
    frame = pd.DataFrame({"racer": list("abcdefghi")})
    looks = [look["marker"] for _, _, look in plots.lines(frame.groupby("racer"))]
    assert len(set(looks)) == 9


def test_the_law_is_not_drawn_as_what_was_measured():
    rows = [(threads, 8, 0, 1 / threads) for threads in (1, 2)]
    times = pd.DataFrame(rows, columns=["threads", "num_envs", "repeat", "seconds"])
    (axes,) = nb10_scaling.draw_scaling(times, 2, law="Amdahl", serial=0.1).axes
    named = [line for line in axes.lines if not line.get_label().startswith("_")]
    assert len({(line.get_linestyle(), line.get_marker()) for line in named}) == len(named) == 2
