"""The random agent."""

import numpy as np

import rungs
from rungs.chess.policy import random_actions


def test_every_legal_action_is_as_likely_and_no_other_is_chosen():
    env = rungs.make("chess", "cpp", 1000)
    _, info = env.reset()
    rng = np.random.default_rng(0)
    chosen = np.concatenate([random_actions(info["action_mask"], rng) for _ in range(20)])
    actions, counts = np.unique(chosen, return_counts=True)
    assert actions.tolist() == np.flatnonzero(info["action_mask"][0]).tolist()
    # 1000 expected of each of 20; five standard deviations are 154.
    assert (abs(counts - 1000) < 154).all()


def test_both_mask_formats_give_the_same_choice():
    by_bool, by_bits = (rungs.make("chess", "cpp", 50, mask=mask) for mask in ("bool", "bits"))
    (_, info), (_, packed) = by_bool.reset(), by_bits.reset()
    rngs = [np.random.default_rng(1), np.random.default_rng(1)]
    for _ in range(40):
        actions = random_actions(info["action_mask"], rngs[0])
        np.testing.assert_array_equal(actions, random_actions(packed["action_mask"], rngs[1]))
        (*_, info), (*_, packed) = by_bool.step(actions), by_bits.step(actions)
