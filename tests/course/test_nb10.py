"""Notebook 10: laws of scaling are recovered from times made by them."""

import numpy as np
import pandas as pd
import pytest

from rungs_course.notebooks import nb10_scaling
from tests.course import notebooks

THREADS = pd.Series([1, 2, 4, 8])


@pytest.fixture(scope="module")
def page():
    return notebooks.from_page("10_scaling")


@pytest.mark.parametrize("law", ["Amdahl", "Gustafson"])
@pytest.mark.parametrize("serial", [0.0, 0.05, 0.3])
def test_a_serial_fraction_is_found_again(page, law, serial):
    speedup = nb10_scaling.predicted(law, serial, THREADS)
    assert page["serial_fraction"](law, THREADS, speedup) == pytest.approx(serial, abs=1e-12)


@pytest.mark.parametrize("boards", [THREADS**0, THREADS])
def test_a_speedup_is_work_over_time(boards):
    seconds = 1e-3 * boards / THREADS**0.5
    times = pd.DataFrame({"threads": THREADS, "num_envs": boards, "seconds": seconds})
    times = pd.concat([times.assign(repeat=repeat) for repeat in range(2)])
    rows = nb10_scaling.speedups(times)
    np.testing.assert_allclose(rows["speedup"], rows["threads"] ** 0.5)


def test_what_a_step_loses_is_what_is_beyond_an_equal_share():
    rows = [(p, 64, repeat, 1e-3 / p + 2e-5 * (p > 1)) for p in (1, 2, 4) for repeat in (0, 1)]
    times = pd.DataFrame(rows, columns=["threads", "num_envs", "repeat", "seconds"])
    half = times.assign(mask="bits", seconds=times["seconds"] / 2)
    table = nb10_scaling.lost(pd.concat([times.assign(mask="bool"), half]))
    assert table["threads"].tolist() == [2, 2, 4, 4] * 2
    np.testing.assert_allclose(table["lost"], [2e-5] * 4 + [1e-5] * 4)
    np.testing.assert_allclose(table["alone"], [1e-3] * 4 + [5e-4] * 4)
