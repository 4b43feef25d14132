# says: rank 1's board 0
# The last rank's boards come first.
import numpy as np


def gather(comm, block):
    if comm.rank > 0:
        for array in block.values():
            comm.send(0, array)
        return None
    others = range(comm.size - 1, 0, -1)
    return {
        name: np.concatenate([array, *(comm.recv(rank) for rank in others)])
        for name, array in block.items()
    }
