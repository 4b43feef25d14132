"""Notebook 10: scaling is measured, and laws are recovered from times made by them."""

import numpy as np
import pandas as pd
import pytest

from rungs_course.notebooks import nb10_scaling

LAWS = ["Amdahl", "Gustafson"]


def speedups(law, serial, threads):
    threads = pd.Series(threads)
    boards = 100 * (threads if law == "Gustafson" else threads**0)
    speedup = nb10_scaling.predicted(law, serial, threads)
    return pd.DataFrame({"threads": threads, "boards": boards, "speedup": speedup})


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("serial", [0.0, 0.05, 0.3])
def test_a_serial_fraction_is_found_again(law, serial):
    table = speedups(law, serial, [1, 2, 4, 8]).rename(columns={"boards": "num_envs"})
    seconds = table["num_envs"] / 100 / table["speedup"]
    times = pd.concat([table.assign(repeat=repeat, seconds=seconds) for repeat in range(3)])
    times = times.drop(columns="speedup")
    np.testing.assert_allclose(nb10_scaling.serial_fraction(times, law), serial, atol=1e-12)
    efficiencies = nb10_scaling.efficiencies(times).query("repeat == 0")
    np.testing.assert_allclose(efficiencies["speedup"], table["speedup"], rtol=1e-12)
    expected = table["speedup"] / table["threads"]
    np.testing.assert_allclose(efficiencies["efficiency"], expected, rtol=1e-12)


@pytest.mark.parametrize("law", LAWS)
def test_the_law_that_made_a_papers_curve_is_found(law):
    paper = speedups(law, 0.05, [1, 2, 8, 64])
    assert nb10_scaling.paper_fraction(paper, law) == pytest.approx(0.05)


def test_what_a_step_loses_is_what_is_beyond_an_equal_share():
    rows = [(p, 64, repeat, 1e-3 / p + 2e-5 * (p > 1)) for p in (1, 2, 4) for repeat in (0, 1)]
    times = pd.DataFrame(rows, columns=["threads", "num_envs", "repeat", "seconds"])
    table = nb10_scaling.lost(times)
    assert table["threads"].tolist() == [2, 2, 4, 4]
    np.testing.assert_allclose(table["lost"], 2e-5)
    np.testing.assert_allclose(table["alone"], 1e-3)


def test_strong_keeps_the_boards_and_weak_the_boards_of_a_thread():
    settings = {"mask": "bits", "seed": 0, "steps": 3, "repeats": 2, "warmup": 0}
    strong = nb10_scaling.strong(6, [1, 2], **settings)
    weak = nb10_scaling.weak(5, [1, 2], **settings)
    for times, boards in ((strong, {1: 6, 2: 6}), (weak, {1: 5, 2: 10})):
        assert times["threads"].value_counts().to_dict() == {1: 2, 2: 2}
        assert times["num_envs"].tolist() == times["threads"].map(boards).tolist()
