# says: the advantage of [1, 0], where an episode ends with step 1
# It asks whether the next step ends an episode, not this one.
def advantages(reward, ended, value, gamma, gae_lambda):
    result = reward + gamma * value[1:] * ~ended - value[:-1]
    for step in range(len(reward) - 2, -1, -1):
        result[step] += gamma * gae_lambda * ~ended[step + 1] * result[step + 1]
    return result
