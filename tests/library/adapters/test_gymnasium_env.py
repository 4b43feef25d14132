"""One game behind Gymnasium's interface, and what checks such games."""

import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import rungs
from rungs.errors import ConfigurationError
from tests.saved import refusal


def make(**settings):
    return gymnasium.make("rungs/Chess-v0", **settings)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("obs", ["board", "planes"])
def test_gymnasiums_check_passes(obs):
    # In self-play: it plays an action of one position in another, and here it is legal in both.
    check_env(make(obs=obs, render_mode="ansi").unwrapped)


def test_samples_are_legal_unless_a_mask_is_given():
    env = make()
    env.reset(seed=0)
    env.action_space.seed(0)
    samples = {int(env.action_space.sample()) for _ in range(300)}
    assert samples == set(np.flatnonzero(env.unwrapped.action_mask()))
    mask = np.zeros(4672, np.int8)
    mask[7] = 1
    assert env.action_space.sample(mask) == 7


def test_a_game_takes_the_seeds_of_a_batch_and_a_wrong_one_changes_nothing():
    env, batch = make(opponent="random"), rungs.make("chess", "cpp", 1, opponent="random")
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
    env = make()
    env.reset()
    space = pickle.loads(pickle.dumps(env.action_space))
    assert space == env.action_space
    assert (type(space), space.n) == (gymnasium.spaces.Discrete, 4672)


def test_without_a_game_there_is_neither_a_mask_nor_a_step():
    env = make(max_plies=1).unwrapped
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.action_space.sample()
    env.reset()
    env.step(524)
    assert not env.action_mask().any()
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(524)
