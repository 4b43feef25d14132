"""Child processes that do not outlive their parent, whatever kills it (Linux)."""

import ctypes
import functools
from collections.abc import Callable

_SET_PARENT_DEATH_SIGNAL = 1
_prctl = ctypes.CDLL(None).prctl


def signalled_at_parents_death(number: int) -> Callable[[], int]:
    """Makes a `preexec_fn` after which the child gets signal `number` when its parent ends."""
    return functools.partial(_prctl, _SET_PARENT_DEATH_SIGNAL, number)
