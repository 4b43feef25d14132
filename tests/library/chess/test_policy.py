"""The random agent."""

import gymnasium
import numpy as np
import pytest

import rungs
from rungs._src.chess.policy import random_actions
from rungs._src.core.memory import on_host
from rungs.errors import ConfigurationError


def test_every_legal_action_is_as_likely_and_no_other_is_chosen():
    env = rungs.make("chess", "cpp", 1000)
    _, info = env.reset()
    rng = np.random.default_rng(0)
    chosen = np.concatenate([random_actions(info["action_mask"], rng) for _ in range(20)])
    actions, counts = np.unique(chosen, return_counts=True)
    assert actions.tolist() == np.flatnonzero(info["action_mask"][0]).tolist()
    # 1000 expected of each of 20; five standard deviations are 154.
    assert (abs(counts - 1000) < 154).all()


@pytest.mark.parametrize("mode", ["SAME_STEP", "NEXT_STEP"])
@pytest.mark.parametrize("mask", ["bool", "bits", "list"])
@pytest.mark.parametrize("rung", ["python", "cpp", "threads", "cuda"])
def test_an_environment_samples_what_its_masks_allow(rung, mask, mode):
    device = {"device": "cpu"} if rung == "cuda" else {}
    settings = {"mask": mask, "autoreset_mode": mode, "max_plies": 5, "opening_plies": (0, 9)}
    env = rungs.make("chess", rung, 20, **settings, **device)
    _, info = env.reset(seed=2)
    rng, same_rng = np.random.default_rng(3), np.random.default_rng(3)
    for _ in range(12):
        chosen = random_actions(on_host(info["action_mask"]), same_rng)
        if rung == "python":  # which knows the rules, whatever is written there
            info["action_mask"][:] = 0
        actions = env.sample_actions(rng)
        np.testing.assert_array_equal(on_host(actions), chosen)
        info = env.step(actions)[-1]
    np.testing.assert_array_equal(on_host(env.sample_actions(7)), on_host(env.sample_actions(7)))


def test_samples_without_a_generator_differ_and_what_can_not_be_sampled_is_named():
    env = rungs.make("chess", "cpp", 200, autoreset_mode="DISABLED", max_plies=2)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.sample_actions(0)
    env.reset(seed=0)
    assert (env.sample_actions() != env.sample_actions()).any()
    for rng in (-1, 0.5, "0"):
        with pytest.raises(ConfigurationError, match="rng"):
            env.sample_actions(rng)
    for _ in range(2):
        env.step(env.sample_actions())
    with pytest.raises(ConfigurationError, match="board 0"):
        env.sample_actions(1)


def test_a_board_without_a_legal_action_and_what_is_no_mask_are_named():
    rng, mask, lists = np.random.default_rng(0), np.ones((3, 4672), bool), np.full((3, 218), -1)
    mask[2] = False
    lists = lists.astype(np.int16)
    lists[:2, 0] = 7
    for blocked in (mask, lists):
        with pytest.raises(ConfigurationError, match="board 2"):
            random_actions(blocked, rng)
    assert random_actions(lists[:2], rng).tolist() == [7, 7]
    for array in (mask.astype(np.int8), mask[0], mask[:, :73], mask.tolist()):
        with pytest.raises(ConfigurationError, match="mask="):
            random_actions(array, rng)
