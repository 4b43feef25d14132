"""The chess rungs that tests go through; the GPU's has a file of its own."""

import pytest

import rungs
from tests.tiers import system_tier

RUNGS = [rung.name for rung in rungs.rungs_of("chess") if rung.name != "cuda"]


@pytest.fixture(params=RUNGS)
def rung(request):
    return request.param


# The others step the boards of `cpp`, or have workers that take a second to start.
REFERENCES = ["python", "cpp"]


@pytest.fixture(params=REFERENCES + system_tier(*(each for each in RUNGS if each not in REFERENCES)))
def make(request):
    """Makes environments of a rung."""
    return lambda num_envs=3, **settings: rungs.make("chess", request.param, num_envs, **settings)
