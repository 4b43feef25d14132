# says: the microseconds of halving with 4 processes, 4,000,000 bytes
# By halving, everyone is taken to send half of everything in each round.
def ring(processes, num_bytes, latency, bandwidth):
    return 2 * (processes - 1) * (latency + num_bytes / processes / bandwidth)


def halving(processes, num_bytes, latency, bandwidth):
    return 2 * (processes.bit_length() - 1) * (latency + num_bytes / 2 / bandwidth)
