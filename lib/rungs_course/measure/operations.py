"""How much a network has to compute: floating-point operations, counted on paper.

A multiply-add is two operations. Counted is what any learner has to do: of the first layer's
one-hot numbers only those that are 1, of 4672 actions only the legal ones. Norms, the softmax, the
loss and the optimizer are not: compared with products of matrices they are few operations, though
they may take long. So every learner's share of the peak is of the same work, and what it does
beyond that lowers it.
"""

import dataclasses

from rungs._src.train.layers import NUM_PIECES
from rungs._src.train.network import PolicyValueNetwork
from rungs._src.train.settings import PpoSettings

# Legal actions of a position, about as many as games have on average.
LEGAL = 30


@dataclasses.dataclass(frozen=True)
class Operations:
    """Floating-point operations of one position.

    Attributes:
        infer: to evaluate it.
        learn: to evaluate it, and to differentiate the loss by all weights, once.
    """

    infer: float
    learn: float

    def update(self, settings: PpoSettings) -> float:
        """Returns those of an update, per position: played once, learnt from in every epoch."""
        return self.infer + settings.update_epochs * self.learn


def operations(network: PolicyValueNetwork, legal: float = LEGAL) -> Operations:
    """Counts the operations of a network.

    Args:
        network: whose.
        legal: how many actions are legal in a position.
    """
    width, keys = network.query.in_features, network.query.out_features
    rest = network.squares.in_features - 64 * NUM_PIECES  # numbers that are not one-hot
    first = 64 * width + 2 * rest * width
    products = 2 * width * (2 * width * len(network.blocks) + keys + 1)
    scores = legal * keys * 3  # two keys are added, and multiplied by the query
    forward = first + products + scores
    # Each product is differentiated by both its factors; the first layer by its weights alone.
    backward = first + 2 * (products + scores)
    return Operations(infer=forward, learn=forward + backward)
