# says: the advantage of [2, 0], where no episode ends
# Later surprises are weighed by lambda alone.
def advantages(reward, ended, value, gamma, gae_lambda):
    result = reward + gamma * value[1:] * ~ended - value[:-1]
    for step in range(len(reward) - 2, -1, -1):
        result[step] += gae_lambda * ~ended[step] * result[step + 1]
    return result
