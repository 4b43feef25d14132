# says: the gradient for an action with ratio 1.50, advantage 2.00
# Where the clip holds there is still a gradient.
import numpy as np


def clipped_loss(new, old, advantage, clip):
    gain = np.exp(new - old) * advantage
    least = np.minimum(gain, advantage + clip * np.abs(advantage))
    return -least.mean(), -least / len(new)
