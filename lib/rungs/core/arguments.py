"""What arguments of environments may be; anything else is an error that names it."""

import inspect
import operator
from collections.abc import Callable

import numpy as np
from gymnasium.vector import AutoresetMode

from rungs.errors import ConfigurationError

# In the order of `rungs::env::Autoreset`.
AUTORESET_MODES = (AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED)


MOST_SECONDS = 10**9


def integer(name: str, value, least: int, most: int) -> int:
    """Returns `value` as an int from `least` to `most`; raises ConfigurationError for any other."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ConfigurationError(f"{name}={value!r} is not an integer") from None
    if isinstance(value, bool) or not least <= number <= most:
        raise ConfigurationError(f"{name}={value!r} is not from {least} to {most}")
    return number


def seconds(name: str, value) -> None:
    """Raises ConfigurationError for all but None, which is no limit, and numbers above 0."""
    if value is not None and not (isinstance(value, int | float) and 0 < value <= MOST_SECONDS):
        raise ConfigurationError(
            f"{name}={value!r} is neither None nor seconds above 0, up to {MOST_SECONDS}"
        )


def choice(name: str, value, choices: tuple, other: str = "") -> None:
    """Raises ConfigurationError for all but `choices`, and names them and `other`."""
    if value not in choices:
        listed = ", ".join(map(repr, choices)) + other
        raise ConfigurationError(f"{name}={value!r} is not one of {listed}")


def check_settings(make: Callable, how: dict) -> None:
    """Refuses what `make` doesn't take.

    Raises:
        ConfigurationError: `how` has such a setting; the message names all of them.
    """
    unknown = ", ".join(sorted(how.keys() - inspect.signature(make).parameters.keys()))
    if unknown:
        raise ConfigurationError(f"{make.__name__} has no setting {unknown}")


def checked_actions(actions, shape: tuple[int, ...]) -> np.ndarray:
    """Returns actions as an int64 array, copied only where they are of another kind.

    Raises:
        ConfigurationError: they have a wrong shape or dtype.
    """
    actions = np.asarray(actions)
    if actions.shape != shape:
        raise ConfigurationError(f"actions have shape {actions.shape}, not {shape}")
    if actions.dtype == np.int64 and actions.flags.carray:
        return actions
    if actions.dtype.kind not in "iu" or actions.dtype == np.uint64:
        raise ConfigurationError(f"actions have dtype {actions.dtype}, not int64")
    return np.array(actions, np.int64, order="C")


def autoreset_mode(value) -> AutoresetMode:
    """Returns a mode, given it or gymnasium's name or value of it: "SAME_STEP", "SameStep"."""
    for mode in AutoresetMode:
        if value in (mode, mode.name, mode.value):
            return mode
    names = ", ".join(mode.name for mode in AutoresetMode)
    raise ConfigurationError(f"autoreset_mode={value!r} is not one of {names}")
