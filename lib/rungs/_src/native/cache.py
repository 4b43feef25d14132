"""The cache of compiled files, outside the source tree, in the user's cache folder.

Compiled code is loaded and trusted, so only the user may write to the cache. A file's name ends in
a hash of its content: one that was truncated or damaged is built again instead of crashing the
process that loads it. The hash does not protect against an attacker; owner and mode do.
"""

import contextlib
import hashlib
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import filelock

from rungs._src.core.folder import user_dir
from rungs.errors import CompilerError, StorageError

_OTHERS_MAY_WRITE = 0o022


def built(name: str, identity: object, build: Callable[[Path], object]) -> Path:
    """Returns the path of a file in the cache, built once where it is missing or damaged."""
    folder = directory()
    name = f"{name}-{hashlib.sha256(repr(identity).encode()).hexdigest()[:16]}"
    path = _intact(folder, name)  # without a lock, as the cache may be read-only
    if path:
        return path
    with _locked(folder, name):
        return _intact(folder, name) or _build(folder, name, build)


def directory() -> Path:
    """Returns the cache directory, made if missing, and makes it writable by this user alone."""
    try:
        path = user_dir("cache")
    except StorageError as error:
        raise CompilerError(str(error)) from None
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = path.stat()
        if status.st_uid == os.geteuid() and status.st_mode & _OTHERS_MAY_WRITE:
            path.chmod(status.st_mode & ~_OTHERS_MAY_WRITE)
            status = path.stat()
    except OSError as error:
        raise _useless(path, f"can't be used: {error}") from None
    if not _is_trusted(status):
        raise _useless(path, f"can be written to by others, or belongs to user {status.st_uid}")
    return path


def _is_trusted(status: os.stat_result) -> bool:
    """Returns whether only this user or root can have written there."""
    return status.st_uid in (os.geteuid(), 0) and not status.st_mode & _OTHERS_MAY_WRITE


def _intact(folder: Path, name: str) -> Path | None:
    for path in folder.glob(f"{name}-*"):
        with contextlib.suppress(FileNotFoundError):  # another process rebuilds it
            status = path.stat()
            # Opening a pipe would wait for its writer.
            is_trusted_file = _is_trusted(status) and stat.S_ISREG(status.st_mode)
            if is_trusted_file and path.name == f"{name}-{_hash(path)}":
                return path
    return None


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


@contextlib.contextmanager
def _locked(folder: Path, name: str) -> Iterator[None]:
    try:
        lock = filelock.FileLock(folder / f"{name}.lock").acquire()
    except OSError as error:
        raise _useless(folder, f"holds no whole {name} and can't be written to: {error}") from None
    with lock:
        yield


def _build(folder: Path, name: str, build: Callable[[Path], object]) -> Path:
    for damaged in folder.glob(f"{name}-*"):
        print(f"rungs: {damaged} is damaged: it is built again", file=sys.stderr)
        try:
            damaged.unlink()
        except IsADirectoryError:
            shutil.rmtree(damaged)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".unfinished-") as unfinished:
        path = Path(unfinished, name)
        build(path)
        path.chmod(path.stat().st_mode & ~_OTHERS_MAY_WRITE)
        return path.rename(folder / f"{name}-{_hash(path)}")


def _useless(folder: Path, why: str) -> CompilerError:
    return CompilerError(
        f"{folder}, where compiled code is kept, {why} (XDG_CACHE_HOME says where it is)"
    )
