"""A process that keeps a core busy while something is measured."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator

from rungs._src.processes.parent_death import signalled_at_parents_death

_LOOP = "print(flush=True)\nwhile True: pass"


@contextlib.contextmanager
def busy_process(core: int | None = None) -> Iterator[None]:
    """Runs a process that computes without end while the block runs.

    Args:
        core: the one that it stays on; None: where the system puts it.
    """
    command = [sys.executable, "-c", _LOOP]
    # It ends with this process: else it would keep a core busy for ever where this one is killed.
    ended = signalled_at_parents_death(signal.SIGKILL)
    with subprocess.Popen(command, stdout=subprocess.PIPE, preexec_fn=ended) as process:
        try:
            process.stdout.readline()  # type: ignore[union-attr]  # it has begun
            if core is not None:
                os.sched_setaffinity(process.pid, {core})
            yield
        finally:
            process.kill()
