"""Arrays that end where memory does: to write past them is to crash, and so to be noticed."""

import ctypes
import mmap

import numpy as np

_kept: list[mmap.mmap] = []  # arrays have addresses only; a process judges one submission


def copy(values) -> np.ndarray:
    """Returns a copy of an array after whose last byte, up to alignment, comes a guard page."""
    values = np.ascontiguousarray(values)
    array = empty(values.shape, values.dtype)
    array[...] = values
    return array


def empty(shape, dtype) -> np.ndarray:
    """Returns an array of bytes 0xA5 that ends at a guard page and begins after another."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    inner = -(-max(size, 1) // mmap.PAGESIZE) * mmap.PAGESIZE
    pages = mmap.mmap(-1, inner + 2 * mmap.PAGESIZE)
    _kept.append(pages)
    start = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    libc = ctypes.CDLL(None, use_errno=True)
    for guard in (start, start + mmap.PAGESIZE + inner):
        if libc.mprotect(ctypes.c_void_p(guard), ctypes.c_size_t(mmap.PAGESIZE), 0):
            raise OSError(ctypes.get_errno(), "mprotect")
    whole = np.frombuffer(pages, np.uint8, inner, mmap.PAGESIZE)
    whole[:] = 0xA5
    return whole[inner - size :].view(dtype).reshape(shape)
