"""Judges functions that return numbers or arrays of them."""

from collections.abc import Callable

import numpy as np

from rungs_course.labs.lab import Difference


def fixed(values, dtype=np.float64) -> np.ndarray:
    """Returns a copy that can't be written to: who does is told so at the line that does it."""
    array = np.array(values, dtype)
    array.setflags(write=False)
    return array


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
        last: whether to tell of the last that is wrong, where each is made from later ones.
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
