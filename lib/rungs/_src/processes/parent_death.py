"""Child processes that do not outlive their parent, whatever kills it: on Linux."""

import ctypes
import functools
import os
import signal
import subprocess
import sys
import weakref
from collections.abc import Callable

from rungs._src.programs import start_program

_SET_PARENT_DEATH_SIGNAL = 1


def signalled_at_parents_death(number: int) -> Callable[[], object]:
    """Makes a `preexec_fn` by which Linux signals the child when its parent ends."""
    if sys.platform != "linux":
        return lambda: None
    return functools.partial(ctypes.CDLL(None).prctl, _SET_PARENT_DEATH_SIGNAL, number)


# The keeper is in the group itself, whose number so isn't reused for as long as it lives. Its
# input ends with the process that holds the pipe, whatever kills that.
_KEEPER = ("sh", "-c", "read nothing; kill -KILL 0")


class ProcessGroup:
    """A group of processes that ends by `kill`, with this object and with this process."""

    def __init__(self):
        keeper = start_program(
            _KEEPER,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            process_group=0,
        )
        self.number = keeper.pid
        self.kill = weakref.finalize(self, _kill, keeper)


def _kill(keeper: subprocess.Popen) -> None:
    os.killpg(keeper.pid, signal.SIGKILL)
    keeper.stdin.close()  # type: ignore[union-attr]  # a pipe
    keeper.wait()
