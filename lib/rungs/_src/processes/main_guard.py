"""Scripts that start processes without `if __name__ == "__main__":`, told what they lack.

A process that is started imports the script, for what the script defines. Without the guard that
starts processes again, which Python refuses.
"""

import multiprocessing
import os

# What a process exits with that was about to start others while it imported the script.
UNGUARDED = 78


def end_if_unguarded() -> None:
    """Ends this process, without a word, where it was started and still imports the script.

    Called before processes are started. It is up to who started this one to see `UNGUARDED`, and to
    raise a `rungs.errors.MainGuardError`.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        os._exit(UNGUARDED)
