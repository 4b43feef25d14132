# says: the microseconds of ring with 2 processes, 2,000,000 bytes
# The sums are not handed out.
def ring(processes, num_bytes, latency, bandwidth):
    return (processes - 1) * (latency + num_bytes / processes / bandwidth)


def halving(processes, num_bytes, latency, bandwidth):
    moved = num_bytes * (processes - 1) / processes
    return (processes.bit_length() - 1) * latency + moved / bandwidth
