"""The chess rungs that tests go through; the GPU's has a file of its own."""

import pytest

import rungs
from tests.tiers import system_tier

RUNGS = [rung.name for rung in rungs.rungs_of("chess") if rung.name != "cuda"]


@pytest.fixture(params=RUNGS)
def rung(request):
    return request.param


# The others step the boards of `cpp`, or have workers that take a second to start.
OTHERS = [rung for rung in RUNGS if rung not in ("python", "cpp")]


@pytest.fixture(params=["python", "cpp", *system_tier(*OTHERS)])
def make(request):
    """Makes environments of a rung."""
    return lambda num_envs=3, **settings: rungs.make("chess", request.param, num_envs, **settings)
