"""Arrays that end at a guard page: a program that reads or writes past them crashes at once."""

import ctypes
import mmap

import numpy as np

_mappings: list[mmap.mmap] = []  # arrays have addresses only; a process judges one submission


def guarded(values) -> np.ndarray:
    """Returns a read-only copy after whose last byte, up to alignment, comes a guard page."""
    values = np.ascontiguousarray(values)
    array = guarded_empty(values.shape, values.dtype)
    array[...] = values
    array.setflags(write=False)
    return array


def guarded_empty(shape, dtype) -> np.ndarray:
    """Returns an array of bytes 0xA5 that ends at a guard page and begins after another."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    inner = -(-max(size, 1) // mmap.PAGESIZE) * mmap.PAGESIZE
    pages = mmap.mmap(-1, inner + 2 * mmap.PAGESIZE)
    _mappings.append(pages)
    start = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    libc = ctypes.CDLL(None, use_errno=True)
    for guard in (start, start + mmap.PAGESIZE + inner):
        if libc.mprotect(ctypes.c_void_p(guard), ctypes.c_size_t(mmap.PAGESIZE), 0):
            raise OSError(ctypes.get_errno(), "mprotect")
    usable = np.frombuffer(pages, np.uint8, inner, mmap.PAGESIZE)
    usable[:] = 0xA5
    return usable[inner - size :].view(dtype).reshape(shape)
