"""Notebook 11: whole systems that learn, timed, and what limits them."""

import functools

import numpy as np
import pandas as pd
import pytest
import torch

from rungs._src.chess.policy import random_actions
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


def test_a_part_is_cheaper_in_each_case():
    cases = {
        "1 thread": ("openmp", {"rung": {"threads": 1}}),
        "null": ("null", {}),
        "half the network": ("openmp", {"network": nb11.network(64, 0)}),
    }
    updates = nb11.race_cases(cases, 8, **TIMING)
    assert (updates.groupby("racer").size() == 2 * len(PARTS)).all()
    generate = updates[updates["part"] == "generate"].groupby("racer")["seconds"].median()
    assert generate.idxmin() == "null"


def test_steps_are_timed_after_nothing_a_pause_and_other_memory():
    steps = nb11.step_after(["cpp", "openmp"], 8, seed=0, steps=3, repeats=2)
    assert steps.groupby(["rung", "after"]).size().to_list() == [2] * 6
    assert (steps["seconds"] > 0).all()


def test_each_is_compared_with_a_step_after_a_step():
    rows = [("nothing", 1.0), ("a pause", 2.0), ("other memory", 3.0)]
    steps = pd.DataFrame(
        [("cpp", after, i, i * seconds) for i in range(1, 6) for after, seconds in rows],
        columns=["rung", "after", "repeat", "seconds"],
    )
    updates = pd.DataFrame({"racer": "cpp", "part": "generate", "seconds": [12.0] * 5})
    found = nb11.longer(steps, updates)["cpp"]
    assert {after: each.middle for after, each in found.items()} == {
        "a pause": 2.0,
        "other memory": 3.0,
        "in an update": 4.0,
    }
    assert found["in an update"].low < 4.0 < found["in an update"].high


def test_ways_are_timed_and_threads_put_back():
    before = torch.get_num_threads()
    how = {"seed": 0, "steps": 2, "repeats": 2, "warmup": 1}
    times = nb11.race_ways((4, 8), 1, **how)
    assert torch.get_num_threads() == before
    assert times.groupby(["num_envs", "racer"]).size().to_list() == [2] * 6
    assert ((times["waiting"] > 0) & (times["waiting"] < times["seconds"])).all()


def test_all_ways_play_the_same_games():
    played = []
    for way in nb11._ways(6).values():
        rng, boards = np.random.default_rng(3), []
        way.reset(seed=5)
        for _ in range(2 if not played else 4):
            observation, *_, info = way.recv()
            boards.append(observation.copy())
            legal = info["action_mask"]
            way.send(random_actions(legal, rng))
        way.wait()
        played.append(np.concatenate(boards[: 1 if not played else 2]))
        way.close()
    for halves in played[1:]:
        np.testing.assert_array_equal(halves, played[0])


def test_gains_are_taken_apart():
    rows = [
        ("all in turns", 1, 8, 0, 6.0, 2.0),
        ("halves in turns", 1, 8, 0, 4.0, 1.0),
        ("halves at once", 1, 8, 0, 3.2, 0.2),
    ]
    columns = ["racer", "network_threads", "num_envs", "repeat", "seconds", "waiting"]
    (row,) = nb11.overlap_gains(pd.DataFrame(rows, columns=columns)).itertuples()
    assert (row.halving, row.at_once, row.both) == pytest.approx((1.5, 1.25, 1.875))
    assert row.bound == pytest.approx(4 / 3)  # what remains is the longer part, 3 of 4
