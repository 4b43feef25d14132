"""A thread that works beside its caller, in forked processes, too."""

import os
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

_NAME = "rungs-helper"


class HelperThread:
    """Runs calls one after the other on a thread, which starts with the first.

    A fork waits for all calls; after it, the child's next call starts a thread of the child's.
    """

    def __init__(self) -> None:
        self._executor: ThreadPoolExecutor | None = None
        self._last: list[Future] = []
        _HELPERS.add(self)

    def submit(self, function: Callable, *args: object) -> Future:
        """Starts a call once those before it have ended."""
        if self._executor is None:
            self._executor = ThreadPoolExecutor(1, _NAME)
        self._last = [self._executor.submit(function, *args)]
        return self._last[0]

    def close(self) -> None:
        """Ends the thread after its last call; may be called twice."""
        if self._executor:
            self._executor.shutdown()
        self._executor = None


_HELPERS: "weakref.WeakSet[HelperThread]" = weakref.WeakSet()


def _finish() -> None:
    if threading.current_thread().name.startswith(_NAME):
        return  # a call starts a program: it can't wait for itself
    wait([future for helper in _HELPERS for future in helper._last])


def _forget() -> None:
    for helper in _HELPERS:
        helper._executor = None


if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(before=_finish, after_in_child=_forget)
