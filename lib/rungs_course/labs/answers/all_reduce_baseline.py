def ring(processes, num_bytes, latency, bandwidth):
    """Returns the seconds of an all-reduce around a ring."""
    seconds = 0.0
    for _ in ("add up", "hand out"):
        for _ in range(processes - 1):
            seconds += latency + num_bytes / processes / bandwidth
    return seconds


def halving(processes, num_bytes, latency, bandwidth):
    """Returns the seconds of an all-reduce by halving and doubling."""
    seconds, sent, partners = 0.0, num_bytes, processes
    while partners > 1:
        partners //= 2
        sent /= 2
        seconds += 2 * (latency + sent / bandwidth)  # there, and later back
    return seconds
