import numpy as np


def clipped_loss(new, old, advantage, clip):
    """Returns PPO's loss, and its gradient by `new`, (n,)."""
    gain = new - old
    np.exp(gain, out=gain)
    gain *= advantage
    # What is gained at most: at a ratio of 1 + clip if the advantage is positive, else of 1 - clip.
    most = np.abs(advantage)
    most *= clip
    most += advantage
    held = gain > most
    count = len(gain)
    loss = np.minimum(gain, most, out=most).sum() / -count
    gain *= -1 / count
    gain[held] = 0
    return loss, gain
