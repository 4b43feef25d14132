"""Where compiled things are kept between runs: outside the source tree, in the user's cache."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import filelock
import platformdirs

from rungs.core.atomic import storing, written


def directory() -> Path:
    """Returns the cache directory, made if missing.

    Raises:
        StorageError: it can't be made, as in a home that can't be written to.
    """
    path = Path(platformdirs.user_cache_dir("rungs"))
    with storing(path):
        path.mkdir(parents=True, exist_ok=True)
    return path


@contextlib.contextmanager
def build(path: Path) -> Iterator[Path | None]:
    """Builds `path` once, whole or not at all, however many processes ask at the same time.

    Yields a path to build at, moved to `path` on success, or None where `path` exists already.
    """
    with filelock.FileLock(f"{path}.lock"):
        if path.exists():
            yield None
            return
        with written(path) as unfinished:
            yield unfinished
