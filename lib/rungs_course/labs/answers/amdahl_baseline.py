import numpy as np


def fit(threads, seconds):
    """Returns the seconds that threads can't share, and those that they can."""
    fewest, most = np.argmin(threads), np.argmax(threads)
    # Two runs, two unknowns.
    gained = 1 / threads[fewest] - 1 / threads[most]
    parallel = (seconds[fewest] - seconds[most]) / gained
    return seconds[most] - parallel / threads[most], parallel
