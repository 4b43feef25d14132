"""The simplest agent: any legal action, all equally likely."""

import numpy as np

from rungs._src.chess.buffers import MASKS
from rungs._src.core.arguments import shown
from rungs.errors import ConfigurationError


def random_actions(mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Chooses one uniformly random legal action per board, (N,) int64.

    Args:
        mask: (N, 4672) bool, (N, 73) uint64 or (N, 218) int16 (what `mask` of `rungs.make` gives),
            with at least one legal action in each row.
        rng: where the randomness comes from.

    Raises:
        ConfigurationError: `mask` is not a mask or allows nothing on a board, or `rng` is wrong.
    """
    if not isinstance(mask, np.ndarray) or (mask.shape[1:], mask.dtype) not in MASKS.values():
        known = "(N, 4672) bool, (N, 73) uint64 or (N, 218) int16"
        raise ConfigurationError(f"mask={shown(mask)} is not {known}")
    if not isinstance(rng, np.random.Generator):
        raise ConfigurationError(f"rng={shown(rng)} is not a numpy.random.Generator")
    if mask.dtype == np.int16:
        chosen = draw_ranks((mask >= 0).sum(axis=1), rng)[:, None]
        return np.take_along_axis(mask, chosen, axis=1)[:, 0].astype(np.int64)
    if mask.dtype == np.bool_:
        words = np.packbits(mask, axis=1, bitorder="little").view(np.uint64)
    else:
        words = mask
    boards = np.arange(len(words))
    up_to = np.bitwise_count(words).cumsum(axis=1, dtype=np.int64)
    rank = draw_ranks(up_to[:, -1], rng)
    word = (up_to <= rank[:, None]).sum(axis=1)
    rank -= np.where(word > 0, up_to[boards, word - 1], 0)
    chosen = words[boards, word][:, None].view(np.uint8)
    bits = np.unpackbits(chosen, axis=1, bitorder="little").cumsum(axis=1, dtype=np.int64)
    return 64 * word + (bits <= rank[:, None]).sum(axis=1)


def draw_ranks(counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Chooses a number below each board's count, both (N,) int64; a count of 0 is an error."""
    try:
        return rng.integers(counts)
    except ValueError:
        (none, *_) = np.flatnonzero(counts == 0)
        raise ConfigurationError(f"mask: board {none} has no legal action") from None
