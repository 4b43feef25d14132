"""The null evaluator, for which all leaves are alike. A network's: `rungs._src.train.evaluate`."""

import functools

import numpy as np

from rungs._src.chess.buffers import MOST_LISTED


def uniform(
    observation: np.ndarray, actions: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Takes all actions to be equally likely and all positions to be worth 0: the null evaluator.

    Args:
        observation: (B, ...), as `obs` of the search says; not looked at.
        actions: (B, 218) int16, likewise.
        counts: (B,) int16, likewise.

    Returns:
        logits (B, 218) float32 and values (B,) float32, all 0 and read-only.
    """
    return _zeros(len(counts))


@functools.lru_cache(maxsize=1024)
def _zeros(number: int) -> tuple[np.ndarray, np.ndarray]:
    logits, values = np.zeros((number, MOST_LISTED), np.float32), np.zeros(number, np.float32)
    logits.flags.writeable = values.flags.writeable = False
    return logits, values
