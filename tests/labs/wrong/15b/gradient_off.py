# says: the gradient for an action with ratio 0.50, advantage 2.00
# The loss is right, but every ratio outside of the clip has no gradient.
import numpy as np


def clipped_loss(new, old, advantage, clip):
    ratio = np.exp(new - old)
    clipped = np.clip(ratio, 1 - clip, 1 + clip)
    gain = np.minimum(ratio * advantage, clipped * advantage)
    return -gain.mean(), -ratio * advantage * (ratio == clipped) / len(new)
