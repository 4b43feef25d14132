import numpy as np


def random_actions(mask, rng):
    """Returns a legal action for each board, (N,) int64, any of them equally likely."""
    return np.array([rng.choice(np.flatnonzero(row)) for row in mask])
