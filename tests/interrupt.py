"""Ctrl-C at a moment of a test's choice."""

import os
import signal
import threading
import time

import pytest


def interrupted(*delays, call):
    """Calls a function, which Ctrl-C must end, pressed after each of the delays, in seconds.

    It can't come before it is expected, however busy the machine is: that would end pytest.
    """

    def press():
        for delay in delays:
            time.sleep(delay)
            os.kill(os.getpid(), signal.SIGINT)

    pressing = threading.Thread(target=press)

    def begin():
        pressing.start()
        call()

    with pytest.raises(KeyboardInterrupt):
        begin()
    pressing.join()
