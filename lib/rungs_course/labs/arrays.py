"""Arrays passed to submissions, and the comparison of their results."""

from collections.abc import Callable, Sequence
from typing import Any

import chess
import numpy as np

from rungs_course.labs.inside.guards import guarded, guarded_empty
from rungs_course.labs.lab import Difference


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
    label: str | Callable[..., str],
    *,
    array_label: str = "",
    exact: bool = False,
    last: bool = False,
    fen: Callable[..., str] | None = None,
) -> Difference | None:
    """Compares a function's result, of any type, with the expected number or array.

    Numbers may be off by a millionth, or must be equal and of the same dtype if `exact`.
    `array_label` names the array, `label` a number or `label(*index)` an element, which
    `fen(*index)` shows as a position. `last` reports the last wrong element, where each is computed
    from later ones.
    """
    values = got if exact else as_numbers(got)
    expected = np.asarray(expected, None if exact else np.float64)
    if not isinstance(values, np.ndarray) or _form(values, exact) != _form(expected, exact):
        is_array = isinstance(values, np.ndarray) and values.ndim
        got_form = _form(np.asarray(values), exact) if is_array else f"{got!r:.200}"
        return Difference(array_label or str(label), _form(expected, exact), got_form)
    values = values if exact else values.astype(np.float64)
    differs = values != expected if exact else ~np.isclose(values, expected, rtol=1e-6, atol=1e-9)
    indices = np.argwhere(differs)
    if not len(indices):  # a number that is wrong gives one index, without parts
        return None
    index = tuple(map(int, indices[-1 if last else 0]))
    expected_text, got_text = (_number(array[index], exact) for array in (expected, values))
    output = label if isinstance(label, str) else label(*index)
    return Difference(output, expected_text, got_text, fen(*index) if fen else None)


def same(_, got: Any, expected: Any) -> bool:
    """Returns whether the results of calls are equal: integers exactly, floats approximately."""
    is_nested = isinstance(expected, list | tuple) and any(
        isinstance(part, list | tuple | np.ndarray) for part in expected
    )
    if is_nested:
        same_length = isinstance(got, list | tuple) and len(got) == len(expected)
        return same_length and all(same(_, *pair) for pair in zip(got, expected, strict=True))
    if expected is None:
        return got is None
    try:
        # Python's numbers: NumPy rounds integers of 64 bits where a list has smaller ones, too.
        got_array, expected_array = (
            np.asarray(value.tolist() if hasattr(value, "tolist") else value, object)
            for value in (got, expected)
        )
        numbers, expected_numbers = as_numbers(got), as_numbers(expected)
        if got_array.shape != expected_array.shape or numbers is None or expected_numbers is None:
            return False
        if all(isinstance(number, int) for number in expected_array.flat):
            return bool((got_array == expected_array).all())
        return np.allclose(numbers, expected_numbers, rtol=1e-6, atol=1e-9)
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
    label: Callable[[int], str],
) -> Difference | None:
    """Compares the uint64 that `run(*inputs, out, count)` writes with those expected, by squares.

    Case `i` is named by `label(i)` and shown as the position `fen(i)`.
    """
    out = guarded_empty(len(expected), np.uint64)
    run(*map(guarded, inputs), out, len(expected))
    for i, (bitboard, got) in enumerate(zip(expected, out.tolist(), strict=True)):
        if got != bitboard:
            extra, missing = chess.SquareSet(got & ~bitboard), chess.SquareSet(bitboard & ~got)
            texts = label(i), _squares(bitboard), _squares(got), fen(i)
            return Difference(*texts, tuple(extra), tuple(missing))
    return None


def _squares(bits: int) -> str:
    return ", ".join(map(chess.square_name, chess.SquareSet(bits))) or "no square"
