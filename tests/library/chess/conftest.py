"""The chess rungs that tests go through; the GPU's has a file of its own."""

import pytest

import rungs

RUNGS = [rung.name for rung in rungs.rungs_of("chess") if rung.name != "cuda"]


@pytest.fixture(params=RUNGS)
def rung(request):
    return request.param


# Workers take a second to start, for each environment.
IN_TIERS = [
    pytest.param(rung, marks=pytest.mark.system) if rung == "multiprocessing" else rung
    for rung in RUNGS
]


@pytest.fixture(params=IN_TIERS)
def make(request):
    """Makes environments of a rung."""
    return lambda num_envs=3, **settings: rungs.make("chess", request.param, num_envs, **settings)
