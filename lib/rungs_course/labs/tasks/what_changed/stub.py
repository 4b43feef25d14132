import numpy as np


def encode(before, now):
    """Returns bytes of which `decode` makes `now`, given `before`: both (N, 72) int8."""
    changed = now != before
    return now[changed].tobytes()  # what has changed, but not where


def decode(before, data):
    """Returns `now`, (N, 72) int8."""
    now = before.copy()
    values = np.frombuffer(data, np.int8)
    now.reshape(-1)[: len(values)] = values
    return now
