"""Counter-based randomness, as `cpp/env/random.hpp`: a pure function of where it is used."""

import enum


class Stream(enum.IntEnum):
    """What a number is drawn for."""

    OPPONENT = 0
    START = 1
    OPENING_LENGTH = 2
    OPENING = 3


def philox(seed: int, board: int, episode: int, ply: int, stream: Stream) -> int:
    """The first 32-bit word of Philox4x32-10 (Salmon et al., SC 2011).

    The counter is (board, episode, ply, stream), the key is the 64-bit seed.
    """
    c0, c1, c2, c3 = board, episode, ply, int(stream)
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(10):
        a, b = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = b >> 32 ^ c1 ^ k0, b & 0xFFFFFFFF, a >> 32 ^ c3 ^ k1, a & 0xFFFFFFFF
        k0, k1 = k0 + 0x9E3779B9 & 0xFFFFFFFF, k1 + 0xBB67AE85 & 0xFFFFFFFF
    return c0


def below(bits: int, n: int) -> int:
    """An integer in [0, n) from 32 random bits, by Lemire's multiplication."""
    return bits * n >> 32
