import numpy as np


def advantages(reward, ended, value, gamma, gae_lambda):
    """Returns how much better than expected each action was, (T, N)."""
    onward = gamma * ~ended  # 0 where nothing comes after
    result = onward * value[1:]
    result += reward
    result -= value[:-1]  # the surprises; to each the later ones are added, from the last on
    onward *= gae_lambda
    later, added = result[-1], np.empty_like(result[-1])
    for step in range(len(result) - 2, -1, -1):
        np.multiply(onward[step], later, out=added)
        later = result[step]
        later += added
    return result
