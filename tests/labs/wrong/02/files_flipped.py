# says: of its observation: expected
# The board is turned round: its files too, where only its ranks are in reverse order.
import numpy as np


def predicted(before):
    now = before.copy()
    now[:, :64] = -before[:, 63::-1]
    return now


def encode(before, now):
    changed = now[:, :64] != -before[:, :64].reshape(-1, 8, 8)[:, ::-1].reshape(-1, 64)
    return np.packbits(changed).tobytes() + now[:, :64][changed].tobytes() + now[:, 64:].tobytes()


def decode(before, data):
    now, squares = predicted(before), 8 * len(before)
    changed = np.unpackbits(np.frombuffer(data[:squares], np.uint8)).astype(bool).reshape(-1, 64)
    found = np.frombuffer(data[squares:], np.int8)
    now[:, :64][changed] = found[: changed.sum()]
    now[:, 64:] = found[changed.sum() :].reshape(-1, 8)
    return now
