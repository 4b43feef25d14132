import numpy as np


def fit(threads, seconds):
    """Returns the seconds that threads can't share, and those that they can."""
    terms = np.stack([np.ones(len(threads)), 1 / threads], axis=1)
    weight = 1 / seconds  # a percent counts the same wherever it is
    for _ in range(30):
        parts, *_ = np.linalg.lstsq(terms * weight[:, None], seconds * weight)
        off = seconds / (terms @ parts) - 1
        # Runs far from the others were disturbed, and count for less.
        usual = 3 * np.median(np.abs(off)) + 1e-12
        weight = 1 / (seconds * (1 + (off / usual) ** 2))
    return parts[0], parts[1]
