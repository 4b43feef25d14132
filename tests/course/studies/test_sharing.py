"""Python's boards, shared out in every way that is raced, play the same games."""

import pytest

from rungs_course import nb02_parallel
from tests.proof import lockstep


@pytest.mark.parametrize("way", ["Python threads", "shared", "a process each"])
def test_every_way_plays_the_same_games(way):
    envs = [nb02_parallel.shared_out(name, 3) for name in (way, "python")]
    lockstep.play(*envs, seed=0, steps=30)
    envs[0].close()


@pytest.mark.system
def test_joblib_plays_the_same_games():
    envs = [nb02_parallel.shared_out(name, 5) for name in ("joblib", "python")]
    lockstep.play(*envs, seed=0, steps=120)
    envs[0].close()


def test_ways_are_raced_with_as_many_boards_as_they_can_have():
    most = {"python": 3, "Python threads": 2}
    effort = {"plies": 60, "most_steps": 2, "seed": 0, "repeats": 2, "warmup": 0}
    times = nb02_parallel.race_ways(most, [2, 3], **effort)
    assert (times["plies"] == 2 * times["num_envs"]).all()
    assert times.groupby(["num_envs", "racer"]).size().to_dict() == {
        (2, "Python threads"): 2,
        (2, "python"): 2,
        (3, "python"): 2,
    }


def test_a_worker_takes_descriptors_and_memory():
    price = nb02_parallel.price_of_workers(2)
    assert 1 <= price["descriptors"] <= 4
    assert 2**20 < price["bytes"] < 2**30
    assert 0 < price["descriptors"] < nb02_parallel.most_descriptors()


@pytest.mark.system
def test_one_pool_is_measured_for_who_waits():
    assert nb02_parallel.one_pool(2, workers=4, transport="shared", seed=0) > 0
