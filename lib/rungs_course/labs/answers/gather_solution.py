import numpy as np


def packed(block):
    """Returns a row of bytes for each board: all its numbers, and its bools as bits."""
    bools = np.column_stack([block["mask"], block["terminated"], block["truncated"]])
    numbers = [block["observation"].view(np.uint8), block["reward"][:, None].view(np.uint8)]
    return np.column_stack([*numbers, np.packbits(bools, axis=1)])


def unpacked(rows):
    """Returns the arrays that `packed` was given."""
    bools = np.unpackbits(rows[:, 76:], axis=1).astype(bool)
    return {
        "observation": rows[:, :72].view(np.int8),
        "mask": bools[:, :4672],
        "reward": rows[:, 72:76].copy().view(np.float32)[:, 0],
        "terminated": bools[:, 4672],
        "truncated": bools[:, 4673],
    }


def gather(comm, block):
    """Returns at rank 0 the arrays of all ranks' blocks, joined: by a binomial tree."""
    rows, step = packed(block), 1
    while step < comm.size:
        if comm.rank & step:
            comm.send(comm.rank - step, rows)
            return None
        if comm.rank + step < comm.size:
            rows = np.concatenate([rows, comm.recv(comm.rank + step)])
        step *= 2
    return unpacked(rows)
