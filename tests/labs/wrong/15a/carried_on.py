# says: the advantage of [1, 0], where an episode ends with step 1
# The next episode's surprises are added to this one's.
def advantages(reward, ended, value, gamma, gae_lambda):
    result = reward + gamma * value[1:] * ~ended - value[:-1]
    for step in range(len(reward) - 2, -1, -1):
        result[step] += gamma * gae_lambda * result[step + 1]
    return result
