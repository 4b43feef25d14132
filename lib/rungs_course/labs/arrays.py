"""Arrays passed to submissions, and the comparison of their results."""

from collections.abc import Callable, Sequence
from typing import Any

import chess
import numpy as np

from rungs_course.labs.inside.guards import guarded, guarded_empty
from rungs_course.labs.lab import Difference, timed


def fixed(values, dtype=np.float64) -> np.ndarray:
    """Returns a read-only copy: an attempt to write to it fails at the line that makes it."""
    array = np.array(values, dtype)
    array.setflags(write=False)
    return array


def as_numbers(value: Any) -> np.ndarray | None:
    """Returns a value as an array of real numbers, or None where it isn't one."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        return None
    return array if array.dtype.kind in "biuf" else None


def compare(
    got,
    expected,
    what: str | Callable[..., str],
    *,
    whole: str = "",
    exact: bool = False,
    last: bool = False,
    fen: Callable[..., str] | None = None,
) -> Difference | None:
    """Compares a function's result, of any type, with the expected number or array.

    Numbers may be off by a millionth, or must be equal and of the same dtype if `exact`. `whole`
    names the array, `what` a number or `what(*index)` an element, which `fen(*index)` shows as a
    position. `last` reports the last wrong element, where each is computed from later ones.
    """
    found = got if exact else as_numbers(got)
    expected = np.asarray(expected, None if exact else np.float64)
    if not isinstance(found, np.ndarray) or _form(found, exact) != _form(expected, exact):
        array = isinstance(found, np.ndarray) and found.ndim
        shown = _form(np.asarray(found), exact) if array else f"{got!r:.200}"
        return Difference(whole or str(what), _form(expected, exact), shown)
    found = found if exact else found.astype(np.float64)
    wrong = found != expected if exact else ~np.isclose(found, expected, rtol=1e-6, atol=1e-9)
    places = np.argwhere(wrong)
    if not len(places):  # a number that is wrong gives one index, without parts
        return None
    index = tuple(map(int, places[-1 if last else 0]))
    should, shown = (_number(array[index], exact) for array in (expected, found))
    words = what if isinstance(what, str) else what(*index)
    return Difference(words, should, shown, fen(*index) if fen else None)


def same(_, got: Any, expected: Any) -> bool:
    """Returns whether the results of calls are equal: integers exactly, floats approximately."""
    parts = isinstance(expected, list | tuple) and any(
        isinstance(each, list | tuple | np.ndarray) for each in expected
    )
    if parts:
        pairs = isinstance(got, list | tuple) and len(got) == len(expected)
        return pairs and all(same(_, *each) for each in zip(got, expected, strict=True))
    try:
        found, should = np.asarray(got), np.asarray(expected)
        if found.shape != should.shape:
            return False
        if should.dtype.kind in "biuf" and as_numbers(found) is None:
            return False
        if should.dtype.kind in "biuO":
            return bool((found == should).all())
        return np.allclose(found, should, rtol=1e-6, atol=1e-9)
    except (TypeError, ValueError):
        return False


def _form(array: np.ndarray, exact: bool) -> str:
    form = f"an array of shape {array.shape}" if array.ndim else "a number"
    return f"{form} of {array.dtype}" if exact else form


def _number(value: np.generic, exact: bool) -> str:
    if isinstance(value, np.uint64):
        return f"{value:#x}"
    return str(value) if exact else f"{value:.6g}"


def compare_bitboards(
    run: Callable,
    inputs: Sequence[np.ndarray],
    expected: Sequence[int],
    fen: Callable[[int], str],
    what: Callable[[int], str],
) -> Difference | None:
    """Compares the uint64 that `run(*inputs, out, count)` writes with those expected, by squares.

    Case `i` is named by `what(i)` and shown as the position `fen(i)`.
    """
    out = guarded_empty(len(expected), np.uint64)
    run(*map(guarded, inputs), out, len(expected))
    for i, (should, got) in enumerate(zip(expected, out.tolist(), strict=True)):
        if got != should:
            wrong, missing = chess.SquareSet(got & ~should), chess.SquareSet(should & ~got)
            words = what(i), _squares(should), _squares(got), fen(i)
            return Difference(*words, tuple(wrong), tuple(missing))
    return None


def _squares(bits: int) -> str:
    return ", ".join(map(chess.square_name, chess.SquareSet(bits))) or "no square"


def timed_bitboards(run: Callable, inputs: Sequence[np.ndarray]) -> Callable[[], float]:
    """Returns a function that measures how many seconds all of `inputs` take."""
    out = np.empty(len(inputs[0]), np.uint64)
    return timed(lambda: run(*inputs, out, len(out)))
