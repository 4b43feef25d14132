"""Child processes that do not outlive their parent, whatever kills it: on Linux."""

import ctypes
import functools
import sys
from collections.abc import Callable

_SET_PARENT_DEATH_SIGNAL = 1


def signalled_at_parents_death(number: int) -> Callable[[], object]:
    """Makes a `preexec_fn` after which the child gets signal `number` when its parent ends.

    Other systems than Linux don't tell it, and then the child is only ended by who started it.
    """
    if sys.platform != "linux":
        return lambda: None
    return functools.partial(ctypes.CDLL(None).prctl, _SET_PARENT_DEATH_SIGNAL, number)
