"""Validation of arguments; every error is a ConfigurationError that names the argument."""

import difflib
import math
import numbers
import operator
import re
import reprlib
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
from gymnasium.vector import AutoresetMode

from rungs.errors import ConfigurationError

Choice = TypeVar("Choice")

# One for all environments, or (N,) uint64, one for each.
Seed: TypeAlias = int | np.ndarray
MAX_SEED = 2**64 - 1

AUTORESET_MODES = (AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED)

# Characters of a value in a message: two FENs.
_MAX_SHOWN = 200

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = _MAX_SHOWN

INT64 = np.dtype(np.int64)  # comparing with a type takes longer


def shown(value: object) -> str:
    """Returns any value as text for a message: one line, shortened where it is long."""
    try:
        text = _SHORT.repr(value)
    except ValueError:  # an int with more digits than Python prints, or a container of one
        text = hex(value) if isinstance(value, int) else f"a {type(value).__name__}"
    return shortened(re.sub(r"\s*\n\s*", " ", text))


def shortened(text: str) -> str:
    """Leaves out the middle of a long text."""
    if len(text) <= _MAX_SHOWN:
        return text
    return f"{text[: _MAX_SHOWN // 2]}...{text[-_MAX_SHOWN // 2 :]}"


def did_you_mean(names: Iterable[object], choices: Iterable[str]) -> str:
    """Returns " (did you mean threads?)" where some of `names` are like a choice; else ""."""
    choices = list(choices)
    texts = [name for name in names if isinstance(name, str)]
    similar = [option for text in texts for option in difflib.get_close_matches(text, choices, n=1)]
    return f" (did you mean {', '.join(similar)}?)" if similar else ""


def integer(name: str, value: Any, low: int, high: int) -> int:
    """Returns `value` as an int from `low` to `high`; raises ConfigurationError for any other."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except Exception:  # any object may raise anything here
        number = None
    if number is None:
        raise ConfigurationError(f"{name}={shown(value)} is not an integer")
    if not low <= number <= high:
        raise ConfigurationError(f"{name}={shown(value)} is not from {low} to {high}")
    return number


def seeds(name: str, value: Any, count: int) -> Seed:
    """Returns a seed as an int, or a sequence of `count` seeds as (count,) uint64."""
    listed = isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray)
    if not (listed or (isinstance(value, np.ndarray) and value.ndim)):
        return integer(name, value, 0, MAX_SEED)
    if len(value) != count:
        raise ConfigurationError(f"{name}: {len(value)} seeds for {count} environments")
    checked = [integer(f"{name}[{i}]", seed, 0, MAX_SEED) for i, seed in enumerate(value)]
    return np.array(checked, np.uint64)


def seeds_of(seed: Seed, which: slice) -> Seed:
    """Returns the seeds of some environments; one for all stays as it is."""
    return seed[which] if isinstance(seed, np.ndarray) else seed


def seed_and_number(seed: Seed, i: int, first: int) -> tuple[int, int]:
    """Returns by which environment `i` draws: with a seed of its own, as environment 0."""
    return (int(seed[i]), 0) if isinstance(seed, np.ndarray) else (seed, first + i)


def seed_fields(seed: Seed) -> tuple[int, int | None]:
    """Returns `seed` and `seeds` of a batch in C++: one for all, or the address of an array."""
    return (0, seed.ctypes.data) if isinstance(seed, np.ndarray) else (seed, None)


def real(name: str, value: object, low: float, high: float) -> float:
    """Returns `value` as a float from `low` to `high`; else raises ConfigurationError."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ConfigurationError(f"{name}={shown(value)} is not a number")
    try:
        number = float(value)
    except OverflowError:  # an int that is larger than any float
        number = math.nan
    if not low <= number <= high:
        raise ConfigurationError(f"{name}={shown(value)} is not between {low} and {high}")
    return number


def seconds(name: str, value: object) -> float | None:
    """Returns a time limit as a float, or None; raises ConfigurationError for any other value."""
    return None if value is None else real(name, value, 1e-3, 1e9)


def boolean(name: str, value: object) -> bool:
    """Returns `value` as a bool; raises ConfigurationError for any other type."""
    if not isinstance(value, bool | np.bool_):
        raise ConfigurationError(f"{name}={shown(value)} is not True or False")
    return bool(value)


def choice(name: str, value: object, choices: tuple[Choice, ...], other: str = "") -> Choice:
    """Returns the one of `choices`, strings or None, that `value` is; its error adds `other`."""
    # By identity or as strings: comparing an array returns an array.
    for option in choices:
        if value is option or (isinstance(value, str) and value == option):
            return option
    listed = ", ".join(map(repr, choices)) + other
    raise ConfigurationError(f"{name}={shown(value)} is not one of {listed}")


def checked_actions(actions: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Returns actions as an int64 array, copied only if needed."""
    if type(actions) is not np.ndarray:
        actions = _without_bools("actions", actions)
    if actions.shape != shape:
        raise ConfigurationError(f"actions have shape {actions.shape}, not {shape}")
    if actions.dtype == INT64 and actions.flags.carray:
        return actions
    return _int64("actions", actions)


def checked_indices(name: str, value: object, count: int) -> np.ndarray:
    """Returns indices of `count` things as a new array, (n,) int64."""
    array = _without_bools(name, value)
    if array.ndim != 1:
        raise ConfigurationError(f"{name}: shape {array.shape}, not (n,)")
    indices = _int64(name, array)
    outside = np.flatnonzero((indices < 0) | (indices >= count))
    if len(outside):
        k = int(outside[0])
        raise ConfigurationError(f"{name}[{k}]={indices[k]} is not from 0 to {count - 1}")
    return indices


def _without_bools(name: str, value: object) -> np.ndarray:
    """Returns a value as an array; raises for a bool among numbers, which NumPy takes for one."""
    if isinstance(value, Sequence):
        for i, entry in enumerate(value):
            if isinstance(entry, bool | np.bool_):
                raise ConfigurationError(f"{name}[{i}]={shown(entry)} is not an integer")
    return as_array(name, value)


def _int64(name: str, array: np.ndarray) -> np.ndarray:
    if array.dtype.kind not in "iu" or array.dtype == np.uint64:
        raise ConfigurationError(f"{name}: dtype {array.dtype}, not int64")
    return np.array(array, np.int64, order="C")


def as_array(name: str, value: object) -> np.ndarray:
    """Returns a value as an array, which is not copied if it is one; refuses masked arrays."""
    if isinstance(value, np.ma.MaskedArray):
        raise ConfigurationError(f"{name} is a masked array")
    try:
        return np.asarray(value)
    except Exception as error:  # any object may raise anything here
        raise ConfigurationError(
            f"{name}={shown(value)}: no array: {shortened(str(error))}"
        ) from None


def autoreset_mode(value: object) -> AutoresetMode:
    """Returns a mode, given itself, its name or its value: "SAME_STEP", "SameStep"."""
    for mode in AutoresetMode:
        if value is mode or (isinstance(value, str) and value in (mode.name, mode.value)):
            return mode
    names = ", ".join(mode.name for mode in AutoresetMode)
    raise ConfigurationError(f"autoreset_mode={shown(value)} is not one of {names}")
