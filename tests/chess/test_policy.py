"""The random agent."""

import numpy as np
import pytest

import rungs
from rungs.chess.policy import random_actions
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


def test_all_mask_formats_give_the_same_choice():
    envs = [rungs.make("chess", "cpp", 50, mask=mask) for mask in ("bool", "bits", "list")]
    infos = [env.reset()[1] for env in envs]
    rngs = [np.random.default_rng(1) for _ in envs]
    for _ in range(40):
        chosen = [
            random_actions(info["action_mask"], rng) for info, rng in zip(infos, rngs, strict=True)
        ]
        for actions in chosen[1:]:
            np.testing.assert_array_equal(actions, chosen[0])
        infos = [env.step(chosen[0])[-1] for env in envs]


def test_a_list_of_nothing_is_named():
    lists = np.full((3, 218), -1, np.int16)
    lists[:2, 0] = 7
    with pytest.raises(ConfigurationError, match="board 2 has no legal action"):
        random_actions(lists, np.random.default_rng(0))
    assert random_actions(lists[:2], np.random.default_rng(0)).tolist() == [7, 7]
