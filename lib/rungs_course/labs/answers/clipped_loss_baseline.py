import math

import numpy as np


def clipped_loss(new, old, advantage, clip):
    """Returns PPO's loss, and its gradient by `new`, (n,)."""
    count = len(new)
    loss, gradient = 0.0, np.zeros(count)
    for i in range(count):
        ratio = math.exp(new[i] - old[i])
        clipped = min(max(ratio, 1 - clip), 1 + clip)
        gain = ratio * advantage[i]
        if gain <= clipped * advantage[i]:
            gradient[i] = -gain / count
        else:
            gain = clipped * advantage[i]
        loss -= gain / count
    return loss, gradient
