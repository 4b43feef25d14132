# says: the serial seconds of exact times of 1, 2, 4 and 8 threads: expected 2, but it is 8
# polyfit gives the slope first.
import numpy as np


def fit(threads, seconds):
    return tuple(np.polyfit(1 / threads, seconds, 1))
