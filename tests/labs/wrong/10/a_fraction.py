# says: the serial seconds of exact times of 1, 2, 4 and 8 threads: expected 2, but it is 0.2
# Of the whole, instead of seconds.
import numpy as np


def fit(threads, seconds):
    parallel, serial = np.polyfit(1 / threads, seconds, 1)
    return serial / (serial + parallel), parallel / (serial + parallel)
