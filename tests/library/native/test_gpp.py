"""The same files by another compiler, ahead of time."""

import pytest

import rungs
from rungs_course.measure.verify import verify_games
from tests.proof import lockstep

pytestmark = pytest.mark.system


# Cling compiles OpenMP's pragmas wrong in any but the first code that has some.
@pytest.mark.parametrize(
    ("rung", "team"),
    [("cpp", {}), ("openmp", {"threads": 2}), ("openmp", {"threads": 2, "schedule": "dynamic"})],
)
def test_g_plus_plus_gives_the_same_games_as_cling(rung, team):
    by_gpp = rungs.make("chess", "cpp", 64, opponent="random", compiler="g++")
    by_cling = rungs.make("chess", rung, 64, opponent="random", compiler="cling", **team)
    reasons = lockstep.play(by_gpp, by_cling, seed=3, steps=500)
    assert sum(reasons.values()) > 10


@pytest.mark.parametrize("rung", ["cpp", "openmp"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_it_rounds_as_cling_does(dtype, rung):
    envs = {
        name: rungs.make("cartpole", rung, 300, dtype=dtype, compiler=name)
        for name in ("cling", "g++")
    }
    verify_games(envs, seed=1, steps=40)
