# says: which is not legal
# Ranks from 1: the count of legal actions up to the one that is chosen, and one more.
def random_actions(mask, rng):
    rank = rng.integers(mask.sum(axis=1)) + 1
    return (mask.cumsum(axis=1) <= rank[:, None]).sum(axis=1)
