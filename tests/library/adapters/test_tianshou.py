"""Our boards behind Tianshou's interface."""

import gymnasium
import numpy as np
import pytest

import rungs
from rungs._src.chess.policy import random_actions
from rungs.errors import ConfigurationError

pytest.importorskip("tianshou")
import torch
from tianshou.data import Batch, Collector, VectorReplayBuffer

from rungs.adapters.tianshou import ChessVectorEnv

pytestmark = pytest.mark.system


@pytest.mark.parametrize("start", [None, "chess960"])
def test_it_is_the_environment(start):
    how = {"seed": 3, "max_plies": 30, "start": start}
    env = ChessVectorEnv(6, "cpp", **how)
    ours = rungs.make("chess", "cpp", 6, opponent="random", autoreset_mode="DISABLED", **how)
    observation, info = ours.reset()
    seen, _ = env.reset()
    rng, ends = np.random.default_rng(0), 0
    for _ in range(100):
        np.testing.assert_array_equal(seen.obs, observation)
        np.testing.assert_array_equal(seen.mask, info["action_mask"])
        actions = random_actions(info["action_mask"], rng)
        observation, *flags, info = ours.step(actions)
        seen, *theirs, infos = env.step(actions)
        for ours_is, their_is in zip(flags, theirs, strict=True):
            np.testing.assert_array_equal(ours_is, their_is)
        np.testing.assert_array_equal(seen.obs, observation)
        ended = flags[1] | flags[2]
        for i in np.flatnonzero(ended):
            assert infos[i] == {"env_id": i, "reason": info["reason"][i]}
        if ended.any():
            observation, info = ours.reset(options={"reset_mask": ended})
            rows, _ = env.reset(np.flatnonzero(ended))
            seen[ended] = rows
            ends += ended.sum()
    assert ends > 20


def test_boards_that_are_not_stepped_stay_as_they_are():
    env = ChessVectorEnv(5, "cpp", opening_plies=(4, 9))
    env.reset()
    before = env.env.fens()
    mask = env.env._info()["action_mask"].copy()
    some = [3, 1]
    actions = random_actions(mask, np.random.default_rng(0))[some]
    seen, *_ = env.step(actions, some)
    moved = [i for i, fen in enumerate(env.env.fens()) if fen != before[i]]
    assert moved == [1, 3]
    np.testing.assert_array_equal(seen.obs, env.env._buffers.observation[some])
    every = random_actions(env.env._info()["action_mask"], np.random.default_rng(0))
    order = [4, 3, 2, 1, 0]
    shuffled, *_ = env.step(every[order], order)
    np.testing.assert_array_equal(shuffled.obs, env.env._buffers.observation[order])


class Uniform(torch.nn.Module):
    """Likes all legal actions alike."""

    def forward(self, obs, state=None, info=None):
        return torch.zeros(len(obs), 4672), state


def policy():
    from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy

    env = ChessVectorEnv(1)
    return DiscreteQLearningPolicy(
        model=Uniform(),
        action_space=env.action_space[0],
        observation_space=env.observation_space[0],
        eps_training=1.0,
        eps_inference=1.0,
    )


@pytest.mark.parametrize("how", [{"n_step": 200}, {"n_episode": 14}])
def test_a_collector_plays_legal_actions_and_keeps_what_was_seen(how):
    env = ChessVectorEnv(6, "cpp", max_plies=20)
    buffer = VectorReplayBuffer(2000, 6)
    collector = Collector(policy(), env, buffer, exploration_noise=True)
    collector.reset()
    stats = collector.collect(**how)
    assert stats.n_collected_steps >= 120
    assert stats.n_collected_episodes >= 6
    kept = buffer.sample(0)[0]
    assert kept.obs.mask[np.arange(len(kept)), kept.act].all()
    assert (kept.obs_next.mask.any(1) == ~kept.done).all()
    going_on = ~kept.done
    assert not np.array_equal(kept.obs.obs[going_on], kept.obs_next.obs[going_on])


def test_outputs_are_the_callers_to_keep_and_to_write_to():
    env, same = (ChessVectorEnv(4, "python", max_plies=4) for _ in range(2))
    kept = []
    for each in (env, same):
        each.seed(1)
    seen, other = env.reset()[0], same.reset()[0]
    for _ in range(20):
        np.testing.assert_array_equal(seen.mask, other.mask)
        actions = random_actions(seen.mask, np.random.default_rng(0))
        seen, *flags, _ = env.step(actions)
        other = same.step(actions)[0]
        kept += [(array, array.copy()) for array in (seen.obs, seen.mask, *flags)]
        ended = np.flatnonzero(flags[1] | flags[2])
        other.obs[:] = other.mask[:] = 0  # whoever has them may do so
        other = Batch(obs=seen.obs.copy(), mask=seen.mask.copy())
        seen = Batch(obs=seen.obs.copy(), mask=seen.mask.copy())
        if len(ended):
            seen[ended], other[ended] = env.reset(ended)[0], same.reset(ended)[0]
    for array, copy in kept:
        np.testing.assert_array_equal(array, copy)


def test_a_board_whose_episode_ended_waits_for_its_reset():
    env = ChessVectorEnv(3, "cpp", max_plies=2)
    seen = env.reset()[0]
    outcome = env.step(random_actions(seen.mask, np.random.default_rng(0)))
    assert (outcome[2] | outcome[3]).all()
    assert not outcome[0].mask.any()
    rows, _ = env.reset([2, 0])
    assert rows.mask.any(1).all()
    actions = random_actions(rows.mask, np.random.default_rng(0))
    with pytest.raises(gymnasium.error.ResetNeeded, match="1"):
        env.step(np.zeros(3, np.int64))
    env.step(actions, [2, 0])


def test_a_seed_begins_the_same_games_again():
    env = ChessVectorEnv(4, opening_plies=(6, 6))
    assert env.seed(5) == [5] * 4
    first = env.reset()[0].obs
    assert not np.array_equal(env.reset()[0].obs, first)
    env.seed(5)
    np.testing.assert_array_equal(env.reset()[0].obs, first)


def test_attributes_are_answered_for_every_board():
    env = ChessVectorEnv(3)
    seen, _ = env.reset()
    assert len(env) == len(env.action_space) == 3
    assert {"obs": seen.obs[0], "mask": seen.mask[0].astype(np.int8)} in env.observation_space[0]
    assert env.get_env_attr("first_board", [0, 2]) == [0, 0]
    with pytest.raises(ConfigurationError, match="first_board"):
        env.set_env_attr("first_board", 1)
    env.close()


@pytest.mark.parametrize("index", [3, [0, 0], [-1]])
def test_wrong_boards_are_refused(index):
    env = ChessVectorEnv(3)
    env.reset()
    with pytest.raises(ConfigurationError, match="id"):
        env.reset(index)


@pytest.mark.parametrize("how", [{"zz": 1}, {"options": {}}])
def test_reset_takes_a_seed_and_nothing_else(how):
    env = ChessVectorEnv(2)
    with pytest.raises(ConfigurationError, match=next(iter(how))):
        env.reset(**how)
    env.close()
