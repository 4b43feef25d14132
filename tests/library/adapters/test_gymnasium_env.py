"""One game behind Gymnasium's interface, and what checks such games."""

import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import rungs
from rungs.errors import IllegalActionError


def make(**settings):
    return gymnasium.make("rungs/Chess-v0", **settings)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("obs", ["board", "planes"])
def test_gymnasiums_own_check_passes(obs):
    # In self-play, as it plays an action of one position in another: here those are legal in both.
    check_env(make(obs=obs, render_mode="ansi").unwrapped)


@pytest.mark.system
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_stable_baselines_own_check_passes():
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    checker.check_env(make().unwrapped)


def test_it_is_the_environment():
    env, ours = (
        make(opponent="random", max_plies=30, seed=3),
        rungs.make("chess", "cpp", 1, opponent="random", max_plies=30, seed=3),
    )
    seen, own_info = env.reset()
    observation, info = ours.reset()
    ends = 0
    for _ in range(120):
        np.testing.assert_array_equal(seen, observation[0])
        np.testing.assert_array_equal(own_info["action_mask"], info["action_mask"][0])
        assert own_info["player"] == info["player"][0]
        action = env.action_space.sample()
        seen, *flags, own_info = env.step(action)
        observation, *theirs, info = ours.step([action])
        assert flags == [each[0] for each in theirs]
        assert own_info["reason"] == info["reason"][0]
        if flags[1] or flags[2]:
            ends += 1
            np.testing.assert_array_equal(seen, info["final_obs"][0])
            assert not own_info["action_mask"].any()
            with pytest.raises(gymnasium.error.ResetNeeded):
                env.unwrapped.step(action)
            seen, own_info = env.reset()
    assert ends > 3


def test_samples_are_legal_unless_a_mask_says_otherwise():
    env = make()
    env.reset(seed=0)
    env.action_space.seed(0)
    drawn = {int(env.action_space.sample()) for _ in range(300)}
    assert drawn == set(np.flatnonzero(env.unwrapped.action_mask()))
    only = np.zeros(4672, np.int8)
    only[7] = 1
    assert env.action_space.sample(only) == 7


def test_another_process_is_sent_the_space_without_the_game():
    env = make()
    env.reset()
    sent = pickle.loads(pickle.dumps(env.action_space))
    assert sent == env.action_space
    assert (type(sent), sent.n) == (gymnasium.spaces.Discrete, 4672)


def test_what_was_seen_stays():
    env = make()
    seen, own_info = env.reset()
    kept = seen.copy(), own_info["action_mask"].copy()
    env.step(env.action_space.sample())
    np.testing.assert_array_equal(seen, kept[0])
    np.testing.assert_array_equal(own_info["action_mask"], kept[1])


def test_an_illegal_action_raises_and_changes_nothing():
    env = make(render_mode="ansi")
    env.reset()
    before = env.render()
    with pytest.raises(IllegalActionError):
        env.step(0)
    assert env.render() == before


def test_before_a_reset_there_is_no_mask():
    with pytest.raises(gymnasium.error.ResetNeeded):
        make().unwrapped.action_space.sample()
