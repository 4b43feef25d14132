"""Pools of another project's games."""

import numpy as np
import pytest

from rungs_course import nb02_parallel

pytest.importorskip("pyspiel")

from rungs_course.peers.open_spiel import OpenSpielStates


def test_a_pool_plays_all_of_its_games():
    pool = nb02_parallel.Pool(OpenSpielStates, 3, 2)
    pool.reset(0)
    outputs = pool.step(pool.choose(np.random.default_rng(0)))
    assert [len(share[0]) for share in outputs] == [1, 2]
    pool.close()


def test_as_many_processes_as_games_where_asked_for():
    settings = {"plies": 4, "max_steps": 1, "max_each": 2, "seed": 0, "repeats": 2, "warmup": 0}
    times = nb02_parallel.race_open_spiel([2, 4], **settings)
    assert (times["plies"] == times["num_envs"]).all()
    raced = times.groupby("num_envs")["racer"].unique().map(sorted).to_dict()
    assert raced == {2: ["a process each", "python", "queue"], 4: ["python", "queue"]}
