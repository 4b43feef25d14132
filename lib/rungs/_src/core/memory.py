"""Memory aligned to cache lines, too little of it, and arrays of tensors."""

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from rungs.errors import UnavailableError

CACHE_LINE = 64  # bytes


def zeroed_lines(num_bytes: int) -> np.ndarray:
    """Allocates zeroed memory that begins on a cache line, (num_bytes,) uint8."""
    memory = np.zeros(num_bytes + CACHE_LINE, np.uint8)
    start = -memory.ctypes.data % CACHE_LINE
    return memory[start : start + num_bytes]


@contextlib.contextmanager
def memory_for(purpose: str) -> Iterator[None]:
    """Raises UnavailableError, which names `purpose`, where the block can't allocate its memory."""
    try:
        yield
    except MemoryError as error:
        raise UnavailableError(f"the system has too little memory for {purpose}: {error}") from None


def whole_lines(num_bytes: int) -> int:
    """Returns `num_bytes`, rounded up to whole cache lines."""
    return -(-num_bytes // CACHE_LINE) * CACHE_LINE


def on_host(output: Any) -> np.ndarray:
    """Returns an array as it is, a tensor of any device as an array; bfloat16 as uint16 bits."""
    if isinstance(output, np.ndarray):
        return output
    import torch  # whose tensor it is

    if output.dtype == torch.bfloat16:
        output = output.view(torch.uint16)
    return output.cpu().numpy()
