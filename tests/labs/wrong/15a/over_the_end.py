# says: the advantage of [1, 0], where an episode ends with step 1
# The next episode's first value is taken for this one's.
import numpy as np


def advantages(reward, ended, value, gamma, gae_lambda):
    result = reward + gamma * value[1:] - value[:-1]
    for step in range(len(reward) - 2, -1, -1):
        result[step] += gamma * gae_lambda * np.where(ended[step], 0, result[step + 1])
    return result
