"""One process at a time in a folder."""

import contextlib
import fcntl
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from rungs._src.core.atomic import reraise_as_storage_error
from rungs.errors import ConfigurationError

_NAME = ".rungs-lock"


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keeps others out of a folder, which is made if missing, while the block runs.

    The system gives the lock back when the process ends, however it does.

    Raises:
        ConfigurationError: another is at work there, which the message names.
        StorageError: the folder can't be made or written to.
    """
    path = folder / _NAME
    with contextlib.ExitStack() as held:
        with reraise_as_storage_error(path):
            folder.mkdir(parents=True, exist_ok=True)
            lock = _acquired(path)
            held.callback(_given_back, lock, path)
            os.truncate(lock, 0)
            os.write(lock, f"process {os.getpid()} on {socket.gethostname()}".encode())
        yield


def _acquired(path: Path) -> int:
    """Returns a descriptor of the file, locked, that is at `path` now: an owner removes its own."""
    while True:
        # Never through a link: the file is written to.
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(lock), path.lstat()):
                    return lock
        except BlockingIOError:
            holder = os.read(lock, 200).decode(errors="replace") or "another process"
            os.close(lock)
            raise ConfigurationError(f"{path.parent} is in use by {holder}") from None
        except OSError:
            os.close(lock)
            raise
        os.close(lock)


def _given_back(lock: int, path: Path) -> None:
    with contextlib.suppress(OSError):  # as where the folder was removed meanwhile
        path.unlink()  # first: unlocked, it would be another's
    os.close(lock)
