import numpy as np


def advantages(reward, ended, value, gamma, gae_lambda):
    """Returns how much better than expected each action was, (T, N)."""
    steps, envs = reward.shape
    result = np.zeros((steps, envs))
    for env in range(envs):
        for step in range(steps):
            weight = 1.0
            for later in range(step, steps):
                surprise = reward[later, env] - value[later, env]
                if not ended[later, env]:
                    surprise += gamma * value[later + 1, env]
                result[step, env] += weight * surprise
                if ended[later, env]:
                    break
                weight *= gamma * gae_lambda
    return result
