"""Stable-Baselines3 over lists of legal actions."""

import gymnasium
import numpy as np
import pytest
import torch

import rungs
from rungs.errors import ConfigurationError, IllegalActionError

pytest.importorskip("stable_baselines3")
from stable_baselines3 import PPO
from stable_baselines3.common import vec_env

from rungs.adapters.sb3 import ChessListVecEnv, ChessVecEnv, LegalActionPolicy  # where it is here
from rungs.train import PolicyValueNetwork


def test_an_action_is_a_place_in_the_list_behind_the_board():
    env = ChessListVecEnv(4, "cpp", max_plies=12)
    alone = rungs.make("chess", "cpp", 4, mask="list", opponent="random", max_plies=12)
    env.seed(3)
    observed, (observation, info) = env.reset(), alone.reset(seed=3)
    ended = 0
    for step in range(30):
        np.testing.assert_array_equal(observed[:, :72], observation)
        np.testing.assert_array_equal(observed[:, 72:], info["action_mask"])
        assert observed.dtype == env.observation_space.dtype == np.int16
        places = (info["action_count"].astype(np.int64) * 7 + step) % info["action_count"]
        actions = info["action_mask"][np.arange(4), places].astype(np.int64)
        observation, reward, terminated, truncated, info = alone.step(actions)
        observed, rewards, done, infos = env.step(places)
        np.testing.assert_array_equal(rewards, reward)
        np.testing.assert_array_equal(done, terminated | truncated)
        for i in np.flatnonzero(done):
            ended += 1
            last = infos[i]["terminal_observation"]
            np.testing.assert_array_equal(last[:72], info["final_obs"][i])
            assert last.shape == env.observation_space.shape
    assert ended


def test_places_may_be_a_list_and_others_are_refused():
    env, other = ChessListVecEnv(4, "cpp"), ChessListVecEnv(4, "cpp")
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step([0] * 4)
    for reseeded in (env, other):
        reseeded.seed(3)
        reseeded.reset()
    for wrong in (None, [0] * 3, [[0] * 4], [0.5] * 4, ["a"] * 4, [0, 0, 0, 218], [0, 0, 0, -1]):
        with pytest.raises(ConfigurationError, match="actions"):
            env.step(wrong)
    with pytest.raises(IllegalActionError):
        env.step([0, 0, 0, 217])
    observed, wanted = env.step([3, 2, 1, 0]), other.step(np.array([3, 2, 1, 0]))
    np.testing.assert_array_equal(observed[0], wanted[0])


def model(env):
    settings = {"n_steps": 8, "batch_size": 16, "n_epochs": 1, "seed": 0, "device": "cpu"}
    small = {"network": lambda: PolicyValueNetwork(16, 1, 8)}
    return PPO(LegalActionPolicy, env, policy_kwargs=small, **settings)


def test_the_likeliest_action_is_played_where_that_is_asked_for_and_of_equal_ones_the_first():
    env = ChessListVecEnv(64, "cpp", opening_plies=(0, 12))
    policy, observation = model(env).policy, env.reset()
    with torch.no_grad():
        policy.network.action_key.weight.mul_(20)  # so that some are far likelier
    place, _ = policy.predict(observation, deterministic=True)
    tensor = torch.from_numpy(observation)
    likely = [
        policy.evaluate_actions(tensor, torch.full((64,), place))[1]
        for place in range(int((observation[:, 72:] >= 0).sum(1).min()))
    ]
    chosen = policy.evaluate_actions(tensor, torch.from_numpy(place))[1]
    assert (chosen >= torch.stack(likely).max(0).values).all()
    assert (observation[np.arange(64), 72 + place] >= 0).all()
    sampled, _ = policy.predict(observation)
    assert (sampled != place).any()
    np.testing.assert_array_equal(policy.forward(tensor, deterministic=True)[0], place)
    with torch.no_grad():
        for parameter in policy.network.parameters():
            parameter.zero_()
    assert not policy.predict(observation, deterministic=True)[0].any()


def test_its_distribution_is_what_it_plays_by():
    env = ChessListVecEnv(4, "cpp", opening_plies=(0, 12))
    policy = model(env).policy
    seen = torch.from_numpy(env.reset())
    distribution = policy.get_distribution(seen)
    legal = seen[:, 72:] >= 0
    assert (distribution.distribution.probs[~legal] == 0).all()
    for sampled in (distribution.get_actions(), distribution.get_actions(deterministic=True)):
        assert legal.gather(1, sampled[:, None]).all()
        _, likely, entropy = policy.evaluate_actions(seen, sampled)
        torch.testing.assert_close(distribution.log_prob(sampled), likely)
        torch.testing.assert_close(distribution.entropy(), entropy)
    distribution.entropy().sum().backward()
    gradients = [weights.grad for weights in policy.network.parameters()]
    assert all(gradient.isfinite().all() for gradient in gradients if gradient is not None)


def test_a_policy_is_saved_with_its_arguments(tmp_path):
    how = {"network": lambda: PolicyValueNetwork(width=16), "optimizer_kwargs": {"eps": 1e-3}}
    env = ChessListVecEnv(4, "cpp")
    ours = PPO(LegalActionPolicy, env, n_steps=8, batch_size=16, policy_kwargs=how)
    ours.policy.save(tmp_path / "policy")
    ours.save(tmp_path / "model")
    seen = torch.from_numpy(env.reset())
    for again in (LegalActionPolicy.load(tmp_path / "policy"), PPO.load(tmp_path / "model").policy):
        assert again.optimizer.defaults["eps"] == 1e-3
        torch.testing.assert_close(again.predict_values(seen), ours.policy.predict_values(seen))


def test_what_neither_environment_nor_policy_takes_is_named():
    for setting in ("obs", "mask", "autoreset_mode"):
        with pytest.raises(ConfigurationError, match=setting):
            ChessListVecEnv(4, "cpp", **{setting: "board"})
    with pytest.raises(ConfigurationError, match="ChessListVecEnv"):
        model(ChessVecEnv(4, "cpp"))
    for name in ("net_arch", "features_extractor_class", "activation_fn", "typo"):
        with pytest.raises(ConfigurationError, match=name):
            PPO(LegalActionPolicy, ChessListVecEnv(4, "cpp"), policy_kwargs={name: None})


TAKEN = [("VecMonitor", {}), ("VecCheckNan", {}), ("VecNormalize", {"norm_obs": False})]
REFUSED = [("VecNormalize", {}), ("VecFrameStack", {"n_stack": 2})]


def test_wrappers_leave_observations_alone_or_are_refused():
    def wrapped(name, settings):
        return getattr(vec_env, name)(ChessListVecEnv(4, "cpp", max_plies=4), **settings)

    for name, settings in TAKEN:
        learner = model(wrapped(name, settings))
        before = learner.policy.network.value.weight.detach().clone()
        learner.learn(64)
        assert not torch.equal(learner.policy.network.value.weight, before)
    for name, settings in REFUSED:
        with pytest.raises(ConfigurationError):
            model(wrapped(name, settings)).learn(64)
