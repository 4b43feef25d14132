# says: number 71 of its observation
# Only the squares and rights that changed are sent; the rest is taken to be as it was.
import numpy as np


def encode(before, now):
    changed = now[:, :71] != before[:, :71]
    return np.packbits(changed).tobytes() + now[:, :71][changed].tobytes()


def decode(before, data):
    now, cells = before.copy(), 71 * len(before)
    head = -(-cells // 8)
    changed = np.unpackbits(np.frombuffer(data[:head], np.uint8), count=cells).astype(bool)
    now[:, :71][changed.reshape(-1, 71)] = np.frombuffer(data[head:], np.int8)
    return now
