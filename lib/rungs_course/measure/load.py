"""A process that keeps a core busy while something is measured."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator

from rungs.devel import start_program

# It ends with its parent: else it would keep a core busy for ever if the parent is killed. It
# requests that itself, as a `preexec_fn` would run in a copy of a process with threads.
_BUSY = """
import signal
from rungs.devel import signalled_at_parents_death
signalled_at_parents_death(signal.SIGKILL)()
print(flush=True)
while True: pass
"""


@contextlib.contextmanager
def busy_process(core: int | None = None) -> Iterator[None]:
    """Runs a process that computes without end, on one core or anywhere, while the block runs."""
    command = [sys.executable, "-P", "-c", _BUSY]
    with start_program(command, stdout=subprocess.PIPE) as process:
        try:
            process.stdout.readline()  # type: ignore[union-attr]  # it has begun
            if core is not None:
                os.sched_setaffinity(process.pid, {core})
            yield
        finally:
            process.kill()
