"""Batches behind Stable-Baselines3's interface."""

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")
from rungs.adapters.sb3 import CartPoleVecEnv, ChessVecEnv
from rungs.errors import ConfigurationError


def test_a_wrong_seed_is_refused_and_the_last_one_stays():
    env = ChessVecEnv(2, "cpp", opening_plies=(6, 6))
    env.seed(7)
    for seed in (-1, 2**64, 0.5, "one"):
        with pytest.raises(ConfigurationError, match="seed"):
            env.seed(seed)
    other = ChessVecEnv(2, "cpp", opening_plies=(6, 6), seed=7)
    np.testing.assert_array_equal(env.reset(), other.reset())


def test_an_environment_that_is_none_of_them_is_refused():
    env = ChessVecEnv(2, "cpp")
    env.reset()
    for indices in ([9], 2, -1, [0, -3], ["0"], 0.5):
        for call, what in (
            (env.env_method, "fens"),
            (env.get_attr, "fens"),
            (env.env_is_wrapped, object),
        ):
            with pytest.raises(ConfigurationError, match="indices"):
                call(what, indices=indices)


def test_attributes_and_methods_are_answered_for_every_board():
    env = ChessVecEnv(3, "cpp")
    env.reset()
    assert env.get_attr("first_board", indices=[0, 2]) == [0, 0]
    assert env.env_method("fens", indices=1) == [env.env.fens()[1]]
    assert env.has_attr("action_masks")
    assert not env.has_attr("no_such_thing")
    assert env.env_is_wrapped(object) == [False] * 3
    with pytest.raises(ConfigurationError, match="first_board"):
        env.set_attr("first_board", 1)
    with pytest.raises(ConfigurationError, match="get_state"):
        env.env_method("get_state")


@pytest.mark.system
def test_ppo_learns_to_balance_a_pole():
    from stable_baselines3 import PPO
    from stable_baselines3.common.vec_env import VecMonitor

    env = VecMonitor(CartPoleVecEnv(16, rung="cpp"))
    model = PPO("MlpPolicy", env, n_steps=64, batch_size=256, learning_rate=3e-3, seed=0)
    model.learn(1024)
    lengths = [model.ep_info_buffer[i]["l"] for i in range(20)]
    model.learn(30 * 1024)
    assert model.ep_info_buffer[-1]["l"] > 3 * np.mean(lengths)
