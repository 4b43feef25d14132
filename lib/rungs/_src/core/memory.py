"""Memory on cache lines, for arrays that C++ writes."""

from typing import Any

import numpy as np

CACHE_LINE = 64  # bytes


def zeroed_lines(num_bytes: int) -> np.ndarray:
    """Allocates memory that begins on a cache line, (num_bytes,) uint8."""
    memory = np.zeros(num_bytes + CACHE_LINE, np.uint8)
    start = -memory.ctypes.data % CACHE_LINE
    return memory[start : start + num_bytes]


def whole_lines(num_bytes: int) -> int:
    """Returns the bytes of as many lines as hold so many."""
    return -(-num_bytes // CACHE_LINE) * CACHE_LINE


def on_host(output: Any) -> np.ndarray:
    """Returns an array as it is, a tensor of any device as an array.

    NumPy has no bfloat16: its bits are returned as uint16.
    """
    if isinstance(output, np.ndarray):
        return output
    import torch  # whose tensor it is

    if output.dtype == torch.bfloat16:
        output = output.view(torch.uint16)
    return output.cpu().numpy()
