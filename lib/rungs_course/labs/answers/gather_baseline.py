import numpy as np


def gather(comm, block):
    """Returns at rank 0 the arrays of all ranks' blocks, joined: each array is a message."""
    if comm.rank > 0:
        for array in block.values():
            comm.send(0, array)
        return None
    joined = {}
    for name, array in block.items():
        joined[name] = np.concatenate([array, *(comm.recv(rank) for rank in range(1, comm.size))])
    return joined
