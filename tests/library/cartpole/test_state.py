"""CartPole's states with a right checksum and wrong content are refused, and nothing changes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rungs
from rungs.errors import InvalidStateError
from tests.saved import assert_refused, join, split


def cartpole_env(rung, num_envs=3, **how):
    env = rungs.make("cartpole", rung, num_envs, **how)
    env.reset(seed=0)
    env.step_many(5)
    return env


# Where theta, its speed and the others of the second cart are, their type, and wrong values.
PLACES = {
    "theta": (8 * 7, "f8", (np.nan, 3.0)),
    "speed": (8 * 10, "f8", (1e300,)),
    "steps": (100, "i4", (-1, 500)),
    "ended": (121, "u1", (255,)),
}


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("mode", ["SAME_STEP", "NEXT_STEP"])
@pytest.mark.parametrize("rung", ["cpp", "gymnasium", "torch"])
def test_a_cart_that_no_episode_leads_to(rung, mode, name):
    at, dtype, values = PLACES[name]
    for value in values:
        env = cartpole_env(rung, autoreset_mode=mode)
        head, payload = split(env.get_state())
        assert len(payload) == 123
        payload[at : at + np.dtype(dtype).itemsize] = np.array(value, dtype).tobytes()
        assert_refused(env, join(head, payload), "environment 1")


@pytest.mark.parametrize("theta", [1e300, 1.1])
def test_a_cart_that_ended_further_than_a_step_takes_it(theta):
    env = cartpole_env("cpp", autoreset_mode="NEXT_STEP")
    head, payload = split(env.get_state())
    payload[8 * 7 : 8 * 8] = np.array(theta).tobytes()
    payload[121] = 1
    assert_refused(env, join(head, payload), "environment 1.*place")


@settings(max_examples=60, deadline=None)
@given(
    changes=st.lists(st.tuples(st.integers(0, 122), st.integers(0, 255)), min_size=1, max_size=4)
)
def test_any_change_of_a_cartpole_state(cartpole_state, changes):
    env, state = cartpole_state
    head, payload = split(state)
    for at, value in changes:
        payload[at] = value
    try:
        observation, _ = env.set_state(join(head, payload))
    except InvalidStateError:
        return
    assert np.isfinite(observation).all()
    observation, _, ended = env.step_many(600)
    assert np.isfinite(observation).all()
    assert (ended > 0).all()


@pytest.fixture(scope="module", params=["SAME_STEP", "NEXT_STEP"])
def cartpole_state(request):
    env = cartpole_env("cpp", autoreset_mode=request.param)
    return env, env.get_state()
