"""Scaling: what is measured, and laws that are recovered from times made by them."""

import numpy as np
import pandas as pd
import pytest

from rungs_course import nb10_scaling

SETTINGS = {"mask": "bits", "seed": 0, "steps": 3, "repeats": 2, "warmup": 1}


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


def test_strong_and_weak_measure_every_number_of_threads():
    strong = nb10_scaling.strong(6, [1, 2], **SETTINGS)
    assert strong.groupby("threads").size().to_dict() == {1: 2, 2: 2}
    assert (strong["num_envs"] == 6).all()
    weak = nb10_scaling.weak(5, [1, 2], **SETTINGS)
    assert weak.groupby("threads")["num_envs"].unique().explode().to_dict() == {1: 5, 2: 10}
    assert (pd.concat([strong, weak])["seconds"] > 0).all()


def test_each_rung_goes_as_far_as_it_is_asked():
    settings = SETTINGS | {"repeats": 2}
    settings.pop("steps")
    frame = nb10_scaling.over_boards(
        {"python": 4, "cpp": 40}, {"python": 2, "cpp": 8}, [1, 8], **settings
    )
    assert set(zip(frame["rung"], frame["num_envs"], strict=True)) == {
        ("python", 1),
        ("cpp", 1),
        ("cpp", 8),
    }
    assert (frame.groupby(["rung", "num_envs"]).size() == 2).all()


@pytest.mark.system
def test_a_point_of_any_rung():
    for rung in ("python", "multiprocessing", "cpp", "openmp"):
        how = {"threads": 2, "schedule": "dynamic", "mask": "bits", "seed": 0}
        rate, gain = nb10_scaling.one_point(rung, 16, **how)
        assert rate > 0
        assert (gain > 0.1) == (rung in ("cpp", "openmp"))
