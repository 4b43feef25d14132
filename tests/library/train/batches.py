"""Batches to learn from that are hard on a learner, the same for all of them."""

import numpy as np
import torch

import rungs
from rungs._src.chess.policy import random_actions
from rungs._src.core.tensors import as_tensor
from rungs._src.train.legal_actions import Positions
from rungs._src.train.ppo import Batch

# 218 legal moves, the most there can be; one; and a middle game with all kinds of moves.
MOST = "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1"
ONE = "4k1r1/8/8/8/8/8/8/7K w - - 0 1"
CASTLING = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"

STARTS = {"most": [MOST], "one": [ONE], "both": [MOST, ONE]}


def positions(mask, fens, count, plies=0):
    """Positions of an environment that begins with some, or is some random plies further."""
    env = rungs.make("chess", "cpp", count, mask=mask, start_fens=fens)
    observation, info = env.reset(seed=1)
    rng = np.random.default_rng(2)
    for _ in range(plies):
        observation, *_, info = env.step(random_actions(info["action_mask"], rng))
    listed = info.get("action_count", np.zeros((count, 0), np.int16))
    arrays = (observation, info["action_mask"], listed)
    copies = Positions(*(as_tensor(array).clone() for array in arrays))
    env.close()
    return copies


def played(mask, name, count=48, dtype=torch.float32):
    """A batch with made-up outcomes: "games", or one of `STARTS`."""
    fens, plies = (None, 30) if name == "games" else (STARTS[name], 0)
    outputs = positions(mask, fens, count, plies)
    lists = outputs if mask == "list" else positions("list", fens, count, plies)
    generator = torch.Generator().manual_seed(3)
    uniform = torch.rand(count, generator=generator, dtype=torch.float64)
    choice = (uniform * lists.action_count).long()
    noise = torch.randn(3, count, generator=generator, dtype=torch.float64)
    # Some were likelier when they were played than the clip allows, some less.
    old = -lists.action_count.double().log() + 0.3 * noise[0]
    return Batch(outputs, choice, *(array.to(dtype) for array in (old, noise[1], noise[2])))
