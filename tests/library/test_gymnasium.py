"""What gymnasium asks of a vector environment and of one game, and its wrappers around ours."""

import pickle
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from gymnasium.wrappers import vector as wrap

import rungs
from rungs._src.cartpole.carts.cpp import ThreadsCarts
from rungs._src.chess.boards.threads import ThreadsBoards
from rungs._src.chess.policy import random_actions
from rungs._src.chess.reason import Reason
from rungs.errors import ConfigurationError
from tests.saved import refusal

RUNGS = [rung.name for rung in rungs.rungs_of("chess") if rung.name not in ("mpi", "cuda")]


def make(num_envs=8, **settings):
    return gymnasium.make_vec("rungs/Chess-v0", num_envs, **settings)


def play(env, steps, seed=0):
    """Random play; yields what `reset` and every `step` returned."""
    rng = np.random.default_rng(seed)
    _, info = env.reset(seed=seed)
    mask = info["action_mask"]
    for _ in range(steps):
        outcome = env.step(random_actions(np.asarray(mask), rng))
        mask = outcome[-1]["action_mask"]
        yield outcome


@pytest.mark.parametrize("rung", RUNGS)
def test_make_vec_finds_every_rung_without_a_warning(rung):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = make(3, rung=rung, opponent="random", seed=5)
    assert (env.num_envs, env.spec.id) == (3, "rungs/Chess-v0")
    ours = rungs.make("chess", rung, 3, opponent="random", seed=5)
    np.testing.assert_array_equal(env.reset()[0], ours.reset()[0])
    for each in (env, ours):
        each.close()


def test_make_has_the_defaults_of_make_vec():
    for env, ours in (("rungs/Chess-v0", "chess"), ("rungs/CartPole-v1", "cartpole")):
        theirs = gymnasium.make_vec(env)
        for made in (rungs.make(ours), rungs.make(ours, num_envs=3), theirs):
            assert type(made.unwrapped) is type(theirs.unwrapped)
        assert rungs.make(ours).num_envs == theirs.num_envs == 1
        assert rungs.make(ours, num_envs=3).num_envs == 3
    assert isinstance(rungs.make("chess", num_envs=3).boards, ThreadsBoards)
    assert isinstance(theirs.unwrapped.carts, ThreadsCarts)


def test_one_cartpole_alone_is_gymnasiums_own():
    with pytest.raises(ConfigurationError, match="make_vec"):
        gymnasium.make("rungs/CartPole-v1")
    with pytest.raises(ConfigurationError, match="make_vec"):
        gymnasium.make_vec("rungs/CartPole-v1", 2, vectorization_mode="sync")


def test_its_specification_makes_it_again():
    env = make(3, rung="cpp", obs="planes")
    again = gymnasium.make_vec(gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert (type(again), again.observation_space) == (type(env), env.observation_space)


@pytest.mark.parametrize("obs", ["board", "planes", "bitplanes"])
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_outputs_are_in_its_spaces(obs, mode):
    env = make(4, rung="cpp", obs=obs, max_plies=6, autoreset_mode=mode)
    assert env.metadata["autoreset_mode"] == mode
    assert env.observation_space == batch_space(env.single_observation_space, 4)
    assert env.action_space == batch_space(env.single_action_space, 4)
    steps = 5 if mode == AutoresetMode.DISABLED else 20
    for observation, reward, terminated, truncated, info in play(env, steps):
        assert env.observation_space.contains(observation)
        assert (reward.dtype, reward.shape) == (np.float32, (4,))
        for flags in (terminated, truncated):
            assert (flags.dtype, flags.shape) == (np.bool_, (4,))
        assert isinstance(info, dict)
        if "final_obs" in info:
            assert env.observation_space.contains(info["final_obs"])
            np.testing.assert_array_equal(info["_final_obs"], terminated | truncated)


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
def test_gymnasiums_statistics_are_of_our_episodes(mode):
    settings = {"rung": "cpp", "opponent": "random", "max_plies": 40, "autoreset_mode": mode}
    env = wrap.RecordEpisodeStatistics(make(16, **settings))
    ends = 0
    for _, reward, terminated, truncated, info in play(env, 200):
        ended = terminated | truncated
        if ended.any():
            np.testing.assert_array_equal(info["_episode"], ended)
            # All but the last reward are 0.
            np.testing.assert_array_equal(info["episode"]["r"][ended], reward[ended])
            cut = truncated & (info["reason"] == Reason.MAX_PLIES)
            assert np.isin(info["episode"]["l"][cut], (20, 21)).all()
            ends += int(ended.sum())
    assert ends == env.episode_count > 16


def make_one(**settings):
    return gymnasium.make("rungs/Chess-v0", **settings)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("obs", ["board", "planes"])
def test_gymnasiums_check_passes(obs):
    # In self-play: it plays an action of one position in another, and here it is legal in both.
    check_env(make_one(obs=obs, render_mode="ansi").unwrapped)


def test_samples_are_legal_unless_a_mask_is_given():
    env = make_one()
    env.reset(seed=0)
    env.action_space.seed(0)
    samples = {int(env.action_space.sample()) for _ in range(300)}
    assert samples == set(np.flatnonzero(env.unwrapped.action_mask()))
    mask = np.zeros(4672, np.int8)
    mask[7] = 1
    assert env.action_space.sample(mask) == 7


def test_a_game_takes_the_seeds_of_a_batch_and_a_wrong_one_changes_nothing():
    env, batch = make_one(opponent="random"), rungs.make("chess", "cpp", 1, opponent="random")
    for seed in (5, np.int64(5), np.uint64(5), np.array(5), [5], (5,), np.array([5])):
        np.testing.assert_array_equal(env.reset(seed=seed)[0], batch.reset(seed=5)[0][0])
        action = batch.sample_actions(0)
        np.testing.assert_array_equal(env.step(action[0])[0], batch.step(action)[0][0])
        assert env.unwrapped.np_random_seed == 5
    env = env.unwrapped
    before = env.np_random.bit_generator.state
    for seed in (-1, 2**64, [1, 2], 1.0, "5", True):
        with refusal(env._env, ConfigurationError, "seed"):
            env.reset(seed=seed)
        assert env.np_random.bit_generator.state == before


def test_a_pickled_space_holds_no_game():
    env = make_one()
    env.reset()
    space = pickle.loads(pickle.dumps(env.action_space))
    assert space == env.action_space
    assert (type(space), space.n) == (gymnasium.spaces.Discrete, 4672)


def test_without_a_game_there_is_neither_a_mask_nor_a_step():
    env = make_one(max_plies=1).unwrapped
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.action_space.sample()
    env.reset()
    env.step(524)
    assert not env.action_mask().any()
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(524)
