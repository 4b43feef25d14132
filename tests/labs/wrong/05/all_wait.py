# says: waits for a message from rank 1, which sends none
# Every rank receives before it sends: nobody ever sends.
import numpy as np


def gather(comm, block):
    others = [rank for rank in range(comm.size) if rank != comm.rank]
    whole = {
        name: np.concatenate([array, *(comm.recv(rank) for rank in others)])
        for name, array in block.items()
    }
    for rank in others:
        for array in block.values():
            comm.send(rank, array)
    return whole
