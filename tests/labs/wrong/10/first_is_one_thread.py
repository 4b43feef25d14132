# says: of exact times of 8, 1, 2, 2 and 4 threads, in this order
# The first run is taken for that of one thread, the last for that of the most.
def fit(threads, seconds):
    parallel = (seconds[0] - seconds[-1]) / (1 - 1 / threads[-1])
    return seconds[0] - parallel, parallel
