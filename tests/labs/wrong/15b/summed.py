# says: , clip 0.1, of 3
# The gradient is that of a sum, not of a mean.
import numpy as np


def clipped_loss(new, old, advantage, clip):
    gain = np.exp(new - old) * advantage
    most = advantage + clip * np.abs(advantage)
    return -np.minimum(gain, most).mean(), np.where(gain > most, 0, -gain)
