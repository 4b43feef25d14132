def ring(processes, num_bytes, latency, bandwidth):
    """Returns the seconds of an all-reduce around a ring."""
    others = processes - 1
    return 2 * others * (latency + num_bytes / (processes * bandwidth))


def halving(processes, num_bytes, latency, bandwidth):
    """Returns the seconds of an all-reduce by halving and doubling."""
    moved = num_bytes * (processes - 1) / (processes * bandwidth)
    return 2 * ((processes.bit_length() - 1) * latency + moved)
