"""Atomic writes of files."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rungs.errors import StorageError

UNFINISHED = ".rungs-unfinished-"


@contextlib.contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yields a path, whose file replaces `path` (its folder is made) unless the block raises."""
    with reraise_as_storage_error(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=UNFINISHED) as folder:
            unfinished = Path(folder) / path.name
            yield unfinished
            os.replace(unfinished, path)


@contextlib.contextmanager
def reraise_as_storage_error(path: Path) -> Iterator[None]:
    """Turns an OSError into a StorageError that names `path`, which a full disk's error doesn't."""
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        file = f" ({error.filename})" if error.filename else ""
        raise StorageError(f"{path} can't be written: {error.strerror or error}{file}") from error


def remove_leftovers(folder: Path) -> None:
    """Removes unfinished files of killed processes from `folder`, which the caller has locked."""
    for unfinished in folder.glob(f"{UNFINISHED}*"):
        if not unfinished.is_symlink():
            shutil.rmtree(unfinished)
