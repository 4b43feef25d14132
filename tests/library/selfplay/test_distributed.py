"""Games of several processes: what a rank that is asked to play does."""

from types import SimpleNamespace

import numpy as np
import torch

from rungs._src.selfplay import learning
from rungs._src.selfplay.games import RankGames
from rungs._src.selfplay.learning import LossWeights

WEIGHTS = LossWeights(learning_rate=1e-3, vf_coef=0.5, max_grad_norm=1.0)


class OtherRank:
    """Rank 1 of two, which hears what rank 0 has said, and gets nothing back."""

    rank, size = 1, 2

    def __init__(self, said):
        self._said = iter(said)

    def agree(self, decide):
        return next(self._said)

    def gather(self, value):
        return []


def test_a_rank_plays_with_the_weights_that_have_learnt():
    learnt = learning.make("cpp", 1, WEIGHTS)
    ours = learning.make("cpp", 2, WEIGHTS)
    leaf = (np.zeros((1, 72), np.int8), np.zeros((1, 218), np.int16), np.ones(1, np.int16))
    seen = []

    def play(evaluate, plies):
        assert plies == 3
        seen.append(evaluate(*leaf))
        return None, {}

    own = SimpleNamespace(env=SimpleNamespace(num_envs=4), play=play)
    said = ["play", learnt.network.state_dict(), "over"]
    RankGames(OtherRank(said), ours, own, plies=3).serve()
    ((logits, values),) = seen
    wanted = learnt.evaluate(*leaf)
    assert np.array_equal(logits, wanted[0])
    assert np.array_equal(values, wanted[1])
    for name, weights in learnt.network.state_dict().items():
        assert torch.equal(weights, ours.network.state_dict()[name]), name
