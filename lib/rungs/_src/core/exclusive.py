"""Objects with memory, threads or processes of their own: no copies, and one caller at a time."""

import contextlib
import threading
from collections.abc import Iterator
from typing import NoReturn

from rungs.errors import BusyError, InvalidStateError


class Uncopyable:
    """An object that `copy` and `pickle` refuse, as the copy would share what it holds."""

    _instead = (
        "environments of rungs.make have get_state() and set_state(), those of chess also "
        "snapshot(), restore() and copy_boards()"
    )

    def __reduce__(self) -> NoReturn:
        raise InvalidStateError(
            f"{type(self).__name__} can't be copied or pickled: {self._instead}"
        )


class OneCaller(Uncopyable):
    """An object that one thread at a time may call; a subclass makes the lock."""

    _lock: "threading.RLock"  # reentrant: Ctrl-C may fall between acquiring and the `try`

    @contextlib.contextmanager
    def _alone(self, method: str) -> Iterator[None]:
        """Keeps other threads out; raises BusyError where one is inside already."""
        if not self._lock.acquire(False):
            raise self._busy(method)
        try:
            yield
        finally:
            self._lock.release()

    def _busy(self, method: str) -> BusyError:
        return BusyError(
            f"{method}(): another thread is in this {type(self).__name__}, which has one caller at "
            "a time"
        )
