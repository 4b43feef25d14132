"""Counter-based randomness, as `cpp/env/philox.hpp`: a pure function of where it is used."""

import enum
from typing import Any

_WORD = 0xFFFFFFFF


class Purpose(enum.IntEnum):
    """The purpose of a random number."""

    OPPONENT = 0
    START = 1
    OPENING_LENGTH = 2
    OPENING = 3
    CARTPOLE_START = 4
    CARTPOLE_ACTION = 5
    AGENT = 6
    SEARCH_NOISE = 7
    SEARCH_CHOICE = 8
    GAME = 9


def philox(seed: Any, board: Any, episode: Any, ply: Any, purpose: Purpose) -> Any:
    """Returns the first 32-bit word of `words`."""
    return words(seed, board, episode, ply, purpose)[0]


def words(seed: Any, board: Any, episode: Any, ply: Any, purpose: Purpose) -> tuple:
    """Returns the four 32-bit words of Philox4x32-10 (Salmon et al., SC 2011).

    The counter is (board, episode, ply, purpose); a part of it may also be an array or a tensor of
    int64. The key is the 64-bit seed, signed or unsigned.
    """
    c0, c1, c2, c3 = board, episode, ply, int(purpose)
    k0, k1 = seed & _WORD, seed >> 32 & _WORD
    for _ in range(10):
        a, b = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        # Masked after shifts too, as an int64 fills up with its sign.
        c0, c1, c2, c3 = (
            (b >> 32 & _WORD) ^ c1 ^ k0,
            b & _WORD,
            (a >> 32 & _WORD) ^ c3 ^ k1,
            a & _WORD,
        )
        k0, k1 = k0 + 0x9E3779B9 & _WORD, k1 + 0xBB67AE85 & _WORD
    return c0, c1, c2, c3


def below(bits: int, n: int) -> int:
    """Returns an integer in [0, n) from 32 random bits, by Lemire's multiplication."""
    return bits * n >> 32
