# says: the loss of an action with ratio 0.50, advantage 2.00
# A bad action that has become likelier is not pushed back.
import numpy as np


def clipped_loss(new, old, advantage, clip):
    ratio = np.exp(new - old)
    clipped = np.clip(ratio, 1 - clip, 1 + clip)
    return -(clipped * advantage).mean(), -ratio * advantage * (ratio == clipped) / len(new)
