"""Objects made once in a process, however many threads request them at the same time."""

import functools
import os
import threading
from collections.abc import Callable, Hashable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

# One reentrant lock: a factory may call another.
_lock = threading.RLock()


def once(make: Callable[P, T]) -> Callable[P, T]:
    """Caches results by arguments; unlike in `functools.cache`, a second thread waits."""
    results: dict[Hashable, T] = {}

    @functools.wraps(make)
    def wrapper(*arguments: P.args, **keywords: P.kwargs) -> T:
        key = (arguments, *keywords.items())
        if key not in results:
            with _lock:
                if key not in results:
                    results[key] = make(*arguments, **keywords)
        return results[key]

    return wrapper


def _forget() -> None:
    global _lock
    _lock = threading.RLock()  # a forked process doesn't have the thread that held it


if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(after_in_child=_forget)
