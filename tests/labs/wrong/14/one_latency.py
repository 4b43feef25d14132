# says: the microseconds of ring with 2 processes, 0 bytes, latency 10
# The latency is counted once, not for every message.
def ring(processes, num_bytes, latency, bandwidth):
    return latency + 2 * num_bytes * (processes - 1) / processes / bandwidth


halving = ring
