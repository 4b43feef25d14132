"""The C++ headers: where they are and which version of them this is."""

import functools
import hashlib
import os
from pathlib import Path

CPP = (Path(__file__).parent / "cpp").resolve()
API = "rungs/api.hpp"
MPI_API = "rungs/mpi_api.hpp"
MACHINE_API = "machine/api.hpp"
CARTPOLE_API = "rungs/cartpole_api.hpp"


def fingerprint() -> str:
    """A hash of every header, which changes when any of them does."""
    files = []
    for folder, _, names in os.walk(CPP):
        for name in names:
            if name.endswith(".hpp") or folder == str(CPP / "cuda"):
                path = os.path.join(folder, name)
                stat = os.stat(path)
                files.append((path, stat.st_mtime_ns, stat.st_size, stat.st_ino))
    return _hash(str(CPP), tuple(sorted(files)))


# Every environment that is made asks, so files that look as they did are not read again.
@functools.lru_cache(maxsize=16)
def _hash(root: str, files: tuple[tuple[str, int, int, int], ...]) -> str:
    digest = hashlib.sha256()
    for path, *_ in files:
        digest.update(os.path.relpath(path, root).encode() + b"\0" + Path(path).read_bytes())
    return digest.hexdigest()[:16]
