"""Whole systems that learn, timed."""

import functools

import numpy as np
import pandas as pd
import pytest

from rungs_course import nb11_full_system as nb11
from rungs_course.measure.cost import ONE_STEP, PARTS

TIMING = {"seed": 0, "repeats": 2, "warmup": 1}


def test_a_null_environment_stays_where_a_real_one_began():
    null, real = (nb11.make(name, 8) for name in ("null", "cpp"))
    observation, info = null.reset(seed=3)
    expected, expected_info = nb11.in_play(real, 3)
    np.testing.assert_array_equal(observation, expected)
    np.testing.assert_array_equal(info["action_mask"], expected_info["action_mask"])
    whole, steps = null.rollout(3)
    for out in steps * 2:
        observation, reward, terminated, truncated, info = null.step(np.zeros(8, np.int64), out)
        np.testing.assert_array_equal(observation, expected)
        np.testing.assert_array_equal(info["action_mask"], expected_info["action_mask"])
        assert not reward.any()
        assert not (terminated | truncated).any()
    assert np.shares_memory(observation, whole.observation)


def test_a_null_environment_goes_where_a_real_one_has_come_to():
    make = functools.partial(nb11.make_learner, num_envs=8, seed=0, settings=ONE_STEP)
    learners = {name: make(name) for name in ("cpp", "null")}
    nb11.race_learners(learners, repeats=3, warmup=1)
    real, null = (learner.rollout for learner in learners.values())
    # Its turn was the last one, after the other's.
    for name in ("observation", "mask"):
        for positions in getattr(null, name):
            np.testing.assert_array_equal(positions, getattr(real, name)[-1])
    assert not null.ended.any()


def test_updates_are_timed_part_by_part_where_a_system_can():
    most = {"cpp": 16, "python": 8, "null": 16}
    updates = nb11.race_updates(most, [(8, 2), (16, 1)], **TIMING)
    counts = updates.groupby(["num_envs", "racer"]).size()
    assert counts.to_dict() == {
        (8, "cpp"): 8,
        (8, "null"): 8,
        (8, "python"): 8,
        (16, "cpp"): 8,
        (16, "null"): 8,
    }
    assert set(updates["part"]) == set(PARTS)
    assert set(updates["positions"]) == {16}
    generate = updates[updates["part"] == "generate"].groupby("racer")["seconds"].median()
    assert generate["null"] < generate["cpp"] < generate["python"]


def test_how_near_training_comes_to_a_free_environment():
    rows = [
        (racer, repeat, 4, part, seconds, 4)
        for repeat in range(3)
        for racer, times in (("cpp", (1.0, 0.0, 1.0, 2.0)), ("null", (0.0, 0.0, 1.0, 2.0)))
        for part, seconds in zip(PARTS, times, strict=True)
    ]
    columns = ["racer", "repeat", "positions", "part", "seconds", "num_envs"]
    (row,) = nb11.against_null(pd.DataFrame(rows, columns=columns)).itertuples()
    assert (row.racer, row.num_envs) == ("cpp", 4)
    assert row.of_null == row.low == row.high == pytest.approx(0.75)
    assert row.generate == pytest.approx(0.25)


def test_openspiel_can_be_learnt_from():
    pytest.importorskip("pyspiel")
    updates = nb11.race_updates({"OpenSpiel": 8}, [(8, 1)], **TIMING)
    assert (updates.query("part == 'generate'")["seconds"] > 0).all()
