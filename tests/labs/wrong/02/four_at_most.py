# says: of its observation: expected
# A move changes four squares at most, but not where a game ends and a new one begins.
import numpy as np


def encode(before, now):
    rows = []
    for old, new in zip(before, now, strict=True):
        turned = -old[:64].reshape(8, 8)[::-1].reshape(64)
        places = np.flatnonzero(turned != new[:64])[:4]
        padded = np.resize(places, 4) if len(places) else np.zeros(4, int)
        rows.append(np.concatenate([padded, new[padded], new[64:]]).astype(np.int8))
    return np.array(rows).tobytes()


def decode(before, data):
    rows = np.frombuffer(data, np.int8).reshape(-1, 16)
    now = before.copy()
    now[:, :64] = -before[:, :64].reshape(-1, 8, 8)[:, ::-1].reshape(-1, 64)
    np.put_along_axis(now, rows[:, :4].astype(int), rows[:, 4:8], axis=1)
    now[:, 64:] = rows[:, 8:]
    return now
