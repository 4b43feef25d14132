"""The cost of an update: the time of its parts, floating-point operations and bytes, counted on
paper.

The time of training is updates * (generate + transfer + infer + backward): a rung changes the first
part alone, so that its effect on training can be derived from its speed.

A multiply-add counts as two operations. Only what every learner has to do is counted: of the first
layer's one-hot numbers only those that are 1, of 4672 actions only the legal ones. Norms, the
softmax, the loss and the optimizer are not: compared with matrix products they are few operations,
though they may take long. So every learner's share of the peak is of the same work, and any extra
work lowers it.
"""

import dataclasses

import pandas as pd
import torch

import rungs
from rungs.chess import ChessVectorEnv
from rungs.devel.train import NUM_PIECES, PARTS, Rollout
from rungs.train import Learner, LegalActionNetwork, PolicyValueNetwork, PpoSettings
from rungs_course.learners import LADDER

ONE_STEP = PpoSettings(num_steps=1, update_epochs=1, num_minibatches=1)


def time_updates(
    env: ChessVectorEnv,
    *,
    seed: int,
    repeats: int,
    learner: str = LADDER[0],
    network: LegalActionNetwork | None = None,
) -> pd.DataFrame:
    """Plays and learns, timing each part.

    Each update learns from one step of all boards in one epoch; two untimed ones come first.
    Returns a row per update and part: `update`, `part` (of `PARTS`), `seconds`.
    """
    system = Learner(env, seed=seed, settings=ONE_STEP, learner=learner, network=network)
    timed = [system.learn() for _ in range(2 + repeats)][2:]
    rows = [(i, part, times[part]) for i, times in enumerate(timed) for part in PARTS]
    return pd.DataFrame(rows, columns=["update", "part", "seconds"])


# Legal actions of a position, and squares that have a piece or are attacked: about as many as games
# have on average.
LEGAL = 30
SEEN = 54


@dataclasses.dataclass(frozen=True)
class Operations:
    """Floating-point operations of one position."""

    infer: float  # evaluate it
    learn: float  # evaluate it, and compute all weights' gradient once

    def update(self, settings: PpoSettings) -> float:
        """Returns those of an update, per position: played once, learnt from in every epoch."""
        return self.infer + settings.update_epochs * self.learn


def operations(network: PolicyValueNetwork, legal: float = LEGAL) -> Operations:
    """Counts the operations of a network, for a position with so many legal actions."""
    width, keys = network.query.in_features, network.query.out_features
    rest = network.squares.in_features - 64 * NUM_PIECES  # numbers that are not one-hot
    first = (64 + SEEN) * width + 2 * rest * width
    products = 2 * width * (2 * width * len(network.blocks) + keys + 1)
    scores = legal * keys * 3  # two keys are added, and multiplied by the query
    forward = first + products + scores
    # Each product has gradients of both its factors; the first layer only of its weights.
    backward = first + 2 * (products + scores)
    return Operations(infer=forward, learn=forward + backward)


def position_bytes() -> dict[str, int]:
    """Returns the bytes sent to a learner per position, by name of the array it learns from."""
    env = rungs.make("chess", "cpp", 1, mask="bits")
    rollout = Rollout(env, 1, torch.device("cpu"))
    names = ("observation", "mask", "reward", "ended", "choice", "log_probability", "value")
    return {name: getattr(rollout, name)[0].nbytes for name in names}
