"""Our boards behind Stable-Baselines3's interface."""

import numpy as np
import pytest

import rungs
from rungs._src.chess.policy import random_actions
from rungs.adapters.sb3 import CartPoleVecEnv, ChessVecEnv
from rungs.errors import ConfigurationError

pytest.importorskip("stable_baselines3")


@pytest.mark.parametrize("start", [None, "chess960"])
def test_it_is_the_environment(start):
    how = {"seed": 3, "max_plies": 30, "start": start}
    env = ChessVecEnv(6, rung="cpp", **how)
    ours = rungs.make("chess", "cpp", 6, opponent="random", **how)
    observation, info = ours.reset()
    np.testing.assert_array_equal(env.reset(), observation)
    rng, ends = np.random.default_rng(0), 0
    for _ in range(100):
        actions = random_actions(info["action_mask"], rng)
        np.testing.assert_array_equal(np.stack(env.env_method("action_masks")), info["action_mask"])
        observation, reward, terminated, truncated, info = ours.step(actions)
        seen, rewards, done, infos = env.step(actions)
        np.testing.assert_array_equal(seen, observation)
        np.testing.assert_array_equal(rewards, reward)
        np.testing.assert_array_equal(done, terminated | truncated)
        for i in np.flatnonzero(done):
            ends += 1
            np.testing.assert_array_equal(infos[i]["terminal_observation"], info["final_obs"][i])
            assert infos[i]["TimeLimit.truncated"] == truncated[i]
            assert infos[i]["reason"] == info["reason"][i]
    assert ends > 20


def test_outputs_are_the_callers_to_keep():
    env = ChessVecEnv(2, rung="cpp", max_plies=6)
    kept = []
    for _ in range(3):
        seen = [env.reset()]
        for _ in range(10):
            masks = env.env_method("action_masks")
            kept += [(array, array.copy()) for array in (*seen, *masks)]
            *seen, infos = env.step(random_actions(np.stack(masks), np.random.default_rng(0)))
            seen += [info["terminal_observation"] for info in infos if info]
    assert len({array.tobytes() for array, _ in kept}) > 40
    for array, copy in kept:
        np.testing.assert_array_equal(array, copy)


def test_seed_begins_the_same_games_again():
    env = ChessVecEnv(4, opening_plies=(6, 6))
    env.seed(5)
    first = env.reset()
    assert not np.array_equal(env.reset(), first)
    env.seed(5)
    np.testing.assert_array_equal(env.reset(), first)


@pytest.mark.parametrize("seed", [-1, 2**64, 0.5, "one"])
def test_a_wrong_seed_is_refused_at_once(seed):
    env = ChessVecEnv(2, rung="cpp", opening_plies=(6, 6))
    env.seed(7)
    with pytest.raises(ConfigurationError, match="seed="):
        env.seed(seed)
    other = ChessVecEnv(2, rung="cpp", opening_plies=(6, 6), seed=7)
    np.testing.assert_array_equal(env.reset(), other.reset())


@pytest.mark.parametrize("indices", [[9], 2, -1, [0, -3], ["0"], 0.5])
def test_an_environment_that_is_none_of_them_is_refused(indices):
    env = ChessVecEnv(2, rung="cpp")
    env.reset()
    for call in (env.env_method, env.get_attr):
        with pytest.raises(ConfigurationError, match="indices"):
            call("fens", indices=indices)
    with pytest.raises(ConfigurationError, match="indices"):
        env.env_is_wrapped(object, indices=indices)


def test_attributes_and_methods_are_answered_for_every_board():
    env = ChessVecEnv(3, rung="cpp")
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


@pytest.mark.system
def test_maskable_ppo_trains_on_it():
    sb3_contrib = pytest.importorskip("sb3_contrib")
    from stable_baselines3.common.vec_env import VecMonitor

    env = VecMonitor(ChessVecEnv(8, rung="cpp", max_plies=20))
    model = sb3_contrib.MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=64, seed=0)
    before = [weights.clone() for weights in model.policy.parameters()]
    model.learn(512)
    assert model.num_timesteps == 512
    assert any((a != b).any() for a, b in zip(before, model.policy.parameters(), strict=True))
    assert len(model.ep_info_buffer) > 8
    actions, _ = model.predict(env.reset(), action_masks=np.stack(env.env_method("action_masks")))
    env.step(actions)
