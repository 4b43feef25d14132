import zlib

import numpy as np


def predicted(before):
    """Returns (N, 72) int8: the same boards as the other player sees them, a ply later."""
    now = before[:, [*range(64), 66, 67, 64, 65, *range(68, 72)]]
    now[:, :64] = -before[:, :64].reshape(-1, 8, 8)[:, ::-1].reshape(-1, 64)
    now[:, 68] = -1
    now[:, 69] += 1
    now[:, 70] = 0
    now[:, 71] = 1 - before[:, 71]
    return now


def moved(now, changed):
    """Returns what `predicted` gave after a move, as far as the squares show that it changed."""
    now, squares = now.copy(), now[:, :64]
    left = changed & (squares < 0)
    piece = np.where(left, squares, 0).min(axis=1)
    capture = (changed & (squares > 0)).any(axis=1)
    now[:, :64] = np.where(changed, np.where(left, 0, piece[:, None]), squares)
    now[capture | (piece == -1), 69] = 0
    return now


def encode(before, now):
    """Returns, squeezed: bits of squares that change, bits of what that leaves wrong, and that."""
    guess = predicted(before)
    changed = now[:, :64] != guess[:, :64]
    differs = now != moved(guess, changed)
    bits = np.packbits(np.concatenate([changed, differs], axis=1))
    return zlib.compress(bits.tobytes() + now[differs].tobytes(), 9, wbits=-15)


def decode(before, data):
    """Returns `now`, (N, 72) int8."""
    data = np.frombuffer(zlib.decompress(data, wbits=-15), np.uint8)
    head = 17 * len(before)  # 64 + 72 bits a board
    bits = np.unpackbits(data[:head]).astype(bool).reshape(-1, 136)
    now = moved(predicted(before), bits[:, :64])
    now[bits[:, 64:]] = data[head:].view(np.int8)
    return now
