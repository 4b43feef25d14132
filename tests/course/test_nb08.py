"""Notebook 08: the roofs that programs are drawn below."""

import pandas as pd
import pytest

from rungs_course.notebooks import nb08_roofline


@pytest.mark.parametrize(
    ("last", "levels"), [(20.0, ["L1", "L2", "beyond L2"]), (30.0, ["L1", "L2", "L3", "memory"])]
)
def test_a_last_cache_no_faster_than_memory_has_no_slope_of_its_own(last, levels):
    peaks = ("64-bit integers, vectors", "64-bit integers")
    compute = pd.DataFrame({"peak": peaks, "threads": 1, "per_second": [100.0, 50.0]})
    rates = {"level": ["L1", "L2", "L3", "memory"], "per_second": [1000.0, 500.0, last, 18.0]}
    bandwidth = pd.DataFrame(rates | {"stream": "read", "threads": 1})
    _, slopes = nb08_roofline.roofs(compute, bandwidth, 1)
    assert list(slopes) == levels
    assert list(slopes.values())[2] == last


def test_roofs_are_drawn_also_where_no_program_can_be_placed():
    nothing = pd.DataFrame(columns=["name", "intensity", "performance"])
    figure = nb08_roofline.roofline({"integers": 5e10}, {"L1": 1e11}, nothing, title="One core")
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert labels == ["L1, 100 GB/s", "integers, 50 Gop/s"]
