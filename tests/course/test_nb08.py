"""Notebook 08: all versions of the matrix product compute the same."""

import numpy as np
import pandas as pd
import pytest

from rungs.errors import MismatchError
from rungs_course.notebooks import nb08_roofline


@pytest.mark.parametrize("n", [1, 2, 31, 64, 100, 131])
@pytest.mark.parametrize("threads", [1, 3])
def test_every_version_is_numpys_product(n, threads):
    a, b = np.random.default_rng(n).integers(-8, 9, (2, n, n)).astype(np.float32)
    exact = a.astype(np.float64) @ b  # whole numbers, which float32 holds all of
    for name in nb08_roofline.IDEAS:
        product = np.empty_like(a)
        nb08_roofline.multiply(name, a, b, product, threads)
        assert np.array_equal(product, exact), name


def test_a_wrong_product_has_no_time(monkeypatch):
    monkeypatch.setattr(nb08_roofline, "_by_torch", lambda a, b, result, *_: result.fill(0) or 1.0)
    with pytest.raises(MismatchError, match="torch"):
        nb08_roofline.racer("torch", 1, *nb08_roofline.matrices(16, 0), 1e-4)


def test_a_version_has_a_share_of_the_peak_of_its_threads():
    rows = [(64, "torch", threads, repeat, 5e11) for threads in (1, 2) for repeat in range(3)]
    frame = pd.DataFrame(rows, columns=["n", "version", "threads", "repeat", "per_second"])
    table = nb08_roofline.products_table(frame, {1: 1e12, 2: 2e12})
    assert table["share"].tolist() == pytest.approx([0.5, 0.25])


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
