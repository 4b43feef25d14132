"""The simplest agent: any legal action, all equally likely."""

import numpy as np


def random_actions(mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Chooses one uniformly random legal action per board.

    Args:
        mask: (N, 4672) bool or (N, 73) uint64, with at least one legal action in each row.
        rng: where the randomness comes from.

    Returns:
        (N,) int64 action ids.
    """
    if mask.dtype == np.bool_:
        words = np.packbits(mask, axis=1, bitorder="little").view(np.uint64)
    else:
        words = mask
    boards = np.arange(len(words))
    up_to = np.bitwise_count(words).cumsum(axis=1, dtype=np.int64)
    rank = rng.integers(up_to[:, -1])
    word = (up_to <= rank[:, None]).sum(axis=1)
    rank -= np.where(word > 0, up_to[boards, word - 1], 0)
    chosen = words[boards, word][:, None].view(np.uint8)
    bits = np.unpackbits(chosen, axis=1, bitorder="little").cumsum(axis=1, dtype=np.int64)
    return 64 * word + (bits <= rank[:, None]).sum(axis=1)
