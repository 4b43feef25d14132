# says: how often action
# All boards share one random number, so that copies of a board choose alike.
def random_actions(mask, rng):
    counts = mask.sum(axis=1)
    rank = (rng.random() * counts).astype(int)
    return (mask.cumsum(axis=1) <= rank[:, None]).sum(axis=1)
