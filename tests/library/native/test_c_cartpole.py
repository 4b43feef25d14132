"""CartPole by the C API is the package's, and all recorded games are those of the C API."""

import numpy as np
import pytest

import rungs
from tests.library.native import c_handles
from tests.library.native.c_handles import CartPole, CError
from tests.library.native.test_c_api import AUTORESET


def check_same(c_env, carts):
    for name in ("observation", "reward", "terminated", "truncated", "ended", "final_observation"):
        np.testing.assert_array_equal(getattr(c_env, name), getattr(carts.outputs, name), name)


@pytest.mark.parametrize("mode", ["SAME_STEP", "NEXT_STEP"])
@pytest.mark.parametrize(
    ("dtype", "precision", "num_threads"), [("float64", 8, 1), ("float32", 4, 2)]
)
def test_it_is_the_packages(mode, dtype, precision, num_threads):
    more = {"max_episode_steps": 20, "workload": 2}
    n = 3001
    python_env = rungs.make("cartpole", "cpp", n, dtype=dtype, autoreset_mode=mode, **more)
    autoreset = AUTORESET.index(mode)
    c_env = CartPole(
        num_envs=n, precision=precision, autoreset=autoreset, num_threads=num_threads, **more
    )
    rng, some = np.random.default_rng(0), np.arange(n) % 3 == 0
    for seed, which in ((5, None), (np.arange(n, dtype=np.uint64), None), (None, some)):
        c_env.reset(seed, None if which is None else which.astype(np.uint8))
        python_env.reset(seed=seed, options=None if which is None else {"reset_mask": which})
        ended = 0
        for _ in range(40):
            actions = rng.integers(2, size=n)
            ended += c_env.step(actions)
            python_env.step(actions)
            check_same(c_env, python_env.carts)
        assert ended > n


def test_what_is_wrong_is_refused_and_what_has_ended_waits():
    carts = CartPole(num_envs=2, autoreset=2, max_episode_steps=1)
    with pytest.raises(CError, match="rungs_cartpole_reset"):
        carts.step(np.zeros(2))
    carts.reset(0)
    with pytest.raises(CError, match="environment 1: action 2") as refused:
        carts.step(np.array([0, 2]))
    assert refused.value.status == c_handles.ILLEGAL_ACTION
    assert carts.step(np.array([0, 1])) == 2
    carts.reset(which=np.array([1, 0], np.uint8))
    with pytest.raises(CError, match="environment 1") as refused:
        carts.step(np.zeros(2))
    assert refused.value.status == c_handles.ORDER
    carts.reset(which=None)
    assert carts.step(np.zeros(2)) == 2
