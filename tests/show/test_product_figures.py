"""The figure of the matrix product's ladder."""

import pandas as pd

from rungs_course.show import products


def test_every_version_has_a_bar_and_every_number_of_threads_its_peak():
    rows = [
        (n, *version, n * 1e9, 0.1)
        for n in (64, 128)
        for version in (("naive", "as it is", 1), ("threads", "all cores", 2))
    ]
    names = ["n", "version", "idea", "threads", "per_second", "share"]
    frame = pd.DataFrame(rows, columns=names)
    figure = products.ladder(frame, {1: 1e11, 2: 2e11})
    assert len(figure.axes) == 2
    for axes in figure.axes:
        assert len(axes.patches) == 2
        assert len(axes.lines) == 2
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == [
        "as it is  [naive, 1]",
        "all cores  [threads, 2]",
    ]
