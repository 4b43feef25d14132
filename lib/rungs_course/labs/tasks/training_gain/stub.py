def training_seconds(generate, update, batches, ahead):
    """Returns the seconds that training takes; `ahead`: the next batch is made meanwhile."""
    return batches * (generate + update)


def gain_needed(generate, update, wanted):
    """Returns how many times as fast generation must be for training to be `wanted` times."""
    return wanted  # is the update faster, too?
