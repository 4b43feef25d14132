"""The simplest agent: any legal action, all equally likely."""

import numpy as np

from rungs.chess.buffers import MASKS
from rungs.core.arguments import shown
from rungs.errors import ConfigurationError


def random_actions(mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Chooses one uniformly random legal action per board.

    Args:
        mask: (N, 4672) bool or (N, 73) uint64, with at least one legal action in each row.
        rng: where the randomness comes from.

    Returns:
        (N,) int64 action ids.

    Raises:
        ConfigurationError: `mask` is none or allows nothing on a board, or `rng` is no generator.
    """
    if not isinstance(mask, np.ndarray) or (mask.shape[1:], mask.dtype) not in MASKS.values():
        raise ConfigurationError(f"mask={shown(mask)} is not (N, 4672) bool or (N, 73) uint64")
    if not isinstance(rng, np.random.Generator):
        raise ConfigurationError(f"rng={shown(rng)} is not a numpy.random.Generator")
    if mask.dtype == np.bool_:
        words = np.packbits(mask, axis=1, bitorder="little").view(np.uint64)
    else:
        words = mask
    boards = np.arange(len(words))
    up_to = np.bitwise_count(words).cumsum(axis=1, dtype=np.int64)
    try:
        rank = rng.integers(up_to[:, -1])
    except ValueError:
        (none, *_) = np.flatnonzero(up_to[:, -1] == 0)
        raise ConfigurationError(f"mask: board {none} has no legal action") from None
    word = (up_to <= rank[:, None]).sum(axis=1)
    rank -= np.where(word > 0, up_to[boards, word - 1], 0)
    chosen = words[boards, word][:, None].view(np.uint8)
    bits = np.unpackbits(chosen, axis=1, bitorder="little").cumsum(axis=1, dtype=np.int64)
    return 64 * word + (bits <= rank[:, None]).sum(axis=1)
