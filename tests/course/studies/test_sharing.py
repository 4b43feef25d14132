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


@pytest.mark.system
def test_one_pool_is_measured_for_who_waits():
    assert nb02_parallel.one_pool(2, workers=4, transport="shared", seed=0) > 0
