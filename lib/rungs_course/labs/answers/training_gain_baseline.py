import math


def training_seconds(generate, update, batches, ahead):
    """Returns the seconds that training takes: batch by batch."""
    generated = updated = free = 0.0
    for _ in range(batches):
        generated = (free if ahead else updated) + generate
        free = max(generated, updated)
        updated = free + update
    return updated


def gain_needed(generate, update, wanted):
    """Returns how many times as fast generation must be for training to be `wanted` times."""
    low, high = 1.0, 1e12
    if (generate + update) / (generate / high + update) < wanted:
        return math.inf
    while high / low > 1 + 1e-12:
        middle = math.sqrt(low * high)
        enough = (generate + update) / (generate / middle + update) >= wanted
        low, high = (low, middle) if enough else (middle, high)
    return high
