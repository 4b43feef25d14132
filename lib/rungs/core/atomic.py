"""Files that are there whole or not at all."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

_UNFINISHED = ".unfinished-"


@contextlib.contextmanager
def written(path: Path) -> Iterator[Path]:
    """Yields a path to write to, in the folder of `path` (made if missing), then moved to `path`.

    Where the block raises, or the process is killed, `path` stays as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=_UNFINISHED) as folder:
        unfinished = Path(folder) / path.name
        yield unfinished
        os.replace(unfinished, path)


def tidy(folder: Path) -> None:
    """Removes what processes that were killed have left unfinished in `folder`."""
    for unfinished in folder.glob(f"{_UNFINISHED}*"):
        shutil.rmtree(unfinished)
