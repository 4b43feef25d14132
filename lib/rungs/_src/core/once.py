"""Objects made once in a process, however many threads request them at the same time."""

import functools
import os
import threading
from collections.abc import Callable, Hashable
from typing import ParamSpec, TypeVar

Taken = ParamSpec("Taken")
Made = TypeVar("Made")

# One reentrant lock: a factory may call another.
_lock = threading.RLock()


def once(make: Callable[Taken, Made]) -> Callable[Taken, Made]:
    """Caches a function's result by its arguments, which must be hashable; errors are not cached.

    `functools.cache` calls the function again where a second thread calls before the first has a
    result, and each gets its own. Here the second waits.
    """
    made: dict[Hashable, Made] = {}

    @functools.wraps(make)
    def ask(*arguments: Taken.args, **named: Taken.kwargs) -> Made:
        asked = (arguments, *named.items())
        if asked not in made:
            with _lock:
                if asked not in made:
                    made[asked] = make(*arguments, **named)
        return made[asked]

    return ask


def _forget() -> None:
    global _lock
    _lock = threading.RLock()  # a forked process doesn't have the thread that held it


if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(after_in_child=_forget)
