# says: seconds of 1 batches, 3 s to generate and 1 s to update, one batch ahead: expected 4
# The larger of the two decides, but not for the first batch nor for the last.
import math


def training_seconds(generate, update, batches, ahead):
    return batches * (max(generate, update) if ahead else generate + update)


def gain_needed(generate, update, wanted):
    left = (generate + update) / wanted - update
    return generate / left if left > 0 else math.inf
