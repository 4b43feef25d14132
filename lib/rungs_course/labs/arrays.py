"""Arrays that submissions are given, and how what they return is compared."""

import ctypes
import mmap
from collections.abc import Callable

import numpy as np

from rungs_course.labs.lab import Difference

_kept: list[mmap.mmap] = []  # arrays have addresses only; a process judges one submission


def fixed(values, dtype=np.float64) -> np.ndarray:
    """Returns a copy that can't be written to: an attempt fails at the line that makes it."""
    array = np.array(values, dtype)
    array.setflags(write=False)
    return array


def guarded(values) -> np.ndarray:
    """Returns a copy of an array after whose last byte, up to alignment, comes a guard page."""
    values = np.ascontiguousarray(values)
    array = guarded_empty(values.shape, values.dtype)
    array[...] = values
    return array


def guarded_empty(shape, dtype) -> np.ndarray:
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


def first_difference(
    got,
    expected,
    what: Callable[..., str],
    *,
    whole: str,
    relative: float = 1e-6,
    absolute: float = 1e-9,
    last: bool = False,
) -> Difference | None:
    """Compares what a function returned with what it should have.

    Args:
        got: what came, anything.
        expected: a number, or an array of any shape.
        what: what is at an index, in words: `what(i, j)` of an array with two dimensions.
        whole: what all of it is, in words.
        relative, absolute: how far off it may be, as of `numpy.isclose`.
        last: whether to report the last that is wrong, where each is made from later ones.
    """
    expected = np.asarray(expected, np.float64)
    try:
        found = np.asarray(got, np.float64)
    except (TypeError, ValueError):
        return Difference(whole, _form(expected), f"{got!r:.200}")
    if found.shape != expected.shape:
        return Difference(whole, _form(expected), _form(found) if found.shape else f"{got!r:.200}")
    wrong = np.argwhere(~np.isclose(found, expected, rtol=relative, atol=absolute))
    if not len(wrong):  # of a number an index has no parts, but there is one
        return None
    index = tuple(map(int, wrong[-1 if last else 0]))
    return Difference(what(*index), f"{expected[index]:.6g}", f"{found[index]:.6g}")


def _form(array: np.ndarray) -> str:
    return f"an array of shape {array.shape}" if array.ndim else "a number"
