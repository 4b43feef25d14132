# says: the serial seconds of exact times of 1, 2, 4 and 8 threads
# The line is fitted over the threads.
import numpy as np


def fit(threads, seconds):
    parallel, serial = np.polyfit(threads, seconds, 1)
    return serial, parallel
