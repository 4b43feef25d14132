"""Stable-Baselines3 over lists of legal actions."""

import numpy as np
import pytest

import rungs

pytest.importorskip("stable_baselines3")
from rungs.train.sb3 import ChessListVecEnv, LegalActionPolicy  # where it is here


def test_an_action_is_a_place_in_the_list_behind_the_board():
    how = {"opponent": "random", "max_plies": 12}
    env, alone = (
        ChessListVecEnv(4, "cpp", max_plies=12),
        rungs.make("chess", "cpp", 4, mask="list", **how),
    )
    env.seed(3)
    found, (observation, info) = env.reset(), alone.reset(seed=3)
    ended = 0
    for step in range(30):
        np.testing.assert_array_equal(found[:, :72], observation)
        np.testing.assert_array_equal(found[:, 72:], info["action_mask"])
        assert found.dtype == env.observation_space.dtype == np.int16
        places = (info["action_count"].astype(np.int64) * 7 + step) % info["action_count"]
        actions = info["action_mask"][np.arange(4), places].astype(np.int64)
        observation, reward, terminated, truncated, info = alone.step(actions)
        found, rewards, done, infos = env.step(places)
        np.testing.assert_array_equal(rewards, reward)
        np.testing.assert_array_equal(done, terminated | truncated)
        for i in np.flatnonzero(done):
            ended += 1
            last = infos[i]["terminal_observation"]
            np.testing.assert_array_equal(last[:72], info["final_obs"][i])
            assert last.shape == env.observation_space.shape
    assert ended


@pytest.mark.system
def test_ppo_learns():
    from stable_baselines3 import PPO

    env = ChessListVecEnv(4, "cpp", max_plies=20)
    how = {"n_steps": 8, "batch_size": 16, "n_epochs": 1, "seed": 0, "device": "cpu"}
    model = PPO(LegalActionPolicy, env, **how)
    before = model.policy.network.value.weight.detach().clone()
    model.learn(64)
    assert not np.array_equal(model.policy.network.value.weight.detach(), before)
    observation = env.reset()
    places, _ = model.predict(observation)
    assert (observation[np.arange(4), 72 + places] >= 0).all()
