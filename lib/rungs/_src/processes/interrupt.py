"""Ctrl-C that is delayed until a step is complete."""

import contextlib
import signal
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Delays Ctrl-C to the end of the block; a second one is not delayed."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Python interrupts the main thread alone
        return
    pressed: list[bool] = []

    def note(*_):
        if pressed:
            raise KeyboardInterrupt
        pressed.append(True)

    handler = signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler or signal.SIG_DFL)
        if pressed:
            signal.raise_signal(signal.SIGINT)
