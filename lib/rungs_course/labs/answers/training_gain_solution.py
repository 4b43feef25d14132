import math


def training_seconds(generate, update, batches, ahead):
    """Returns the seconds that training takes: what runs at the same time counts once."""
    if ahead:
        return generate + (batches - 1) * max(generate, update) + update
    return batches * (generate + update)


def gain_needed(generate, update, wanted):
    """Returns how many times as fast generation must be for training to be `wanted` times."""
    left = (generate + update) / wanted - update
    return generate / left if left > 0 else math.inf
