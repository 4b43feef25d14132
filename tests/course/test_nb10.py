"""Notebook 10: scaling is measured, and laws are recovered from times made by them."""

import numpy as np
import pandas as pd
import pytest

from rungs_course import nb10_scaling


def made(law, serial, threads=(1, 2, 4, 8), repeats=3):
    rows = [
        (p, 100 * (p if law == "Gustafson" else 1), repeat, speed)
        for repeat in range(repeats)
        for p in threads
        for speed in [float(nb10_scaling.predicted(law, serial, p))]
    ]
    frame = pd.DataFrame(rows, columns=["threads", "num_envs", "repeat", "speedup"])
    seconds = frame["num_envs"] / 100 / frame["speedup"]
    return frame.assign(seconds=seconds).drop(columns="speedup")


@pytest.mark.parametrize("law", ["Amdahl", "Gustafson"])
@pytest.mark.parametrize("serial", [0.0, 0.05, 0.3])
def test_a_serial_fraction_is_found_again(law, serial):
    times = made(law, serial)
    np.testing.assert_allclose(nb10_scaling.serial_fraction(times, law), serial, atol=1e-12)
    table = nb10_scaling.efficiencies(times).query("repeat == 0").set_index("threads")
    np.testing.assert_allclose(
        table["speedup"], nb10_scaling.predicted(law, serial, table.index), rtol=1e-12
    )
    np.testing.assert_allclose(table["efficiency"], table["speedup"] / table.index)


def test_what_a_step_loses_is_what_is_beyond_an_equal_share():
    rows = [(p, 64, repeat, 1e-3 / p + 2e-5 * (p > 1)) for p in (1, 2, 4) for repeat in (0, 1)]
    table = nb10_scaling.lost(
        pd.DataFrame(rows, columns=["threads", "num_envs", "repeat", "seconds"])
    )
    assert table["threads"].tolist() == [2, 2, 4, 4]
    np.testing.assert_allclose(table["lost"], 2e-5)
    np.testing.assert_allclose(table["alone"], 1e-3)


def test_strong_keeps_the_boards_and_weak_the_boards_of_a_thread():
    settings = {"mask": "bits", "seed": 0, "steps": 3, "repeats": 2, "warmup": 1}
    strong = nb10_scaling.strong(6, [1, 2], **settings)
    weak = nb10_scaling.weak(5, [1, 2], **settings)
    assert strong["threads"].value_counts().to_dict() == {1: 2, 2: 2}
    assert weak["threads"].value_counts().to_dict() == {1: 2, 2: 2}
    assert (strong["num_envs"] == 6).all()
    assert (weak["num_envs"] == 5 * weak["threads"]).all()


@pytest.mark.parametrize("law", ["Amdahl", "Gustafson"])
def test_the_law_that_made_a_papers_curve_is_found(law):
    threads = pd.Series([1, 2, 8, 64])
    boards = 100 * (threads if law == "Gustafson" else 1)
    speedup = nb10_scaling.predicted(law, 0.05, threads)
    paper = pd.DataFrame({"threads": threads, "boards": boards, "speedup": speedup})
    assert nb10_scaling.paper_fraction(paper, law) == pytest.approx(0.05)
