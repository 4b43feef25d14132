# says: how often action
# From anywhere to the next legal action: one behind a long gap is chosen more often.
import numpy as np


def random_actions(mask, rng):
    start = rng.integers(mask.shape[1], size=len(mask))
    order = (start[:, None] + np.arange(mask.shape[1])) % mask.shape[1]
    return (start + np.take_along_axis(mask, order, axis=1).argmax(axis=1)) % mask.shape[1]
