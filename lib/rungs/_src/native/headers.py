"""Which C++ files are compiled, and a hash that tells their versions apart."""

import functools
import hashlib
import os
import time
from pathlib import Path

from rungs._src import paths
from rungs.errors import CompilerError

# Sources, below `cpp/`, of the functions that Python calls. Cling compiles all of `API` at once.
THREADS = "bindings/thread_pool.cpp"
API = ("bindings/chess.cpp", "bindings/cartpole.cpp", "bindings/search.cpp", THREADS)
# Those of the functions that `include/rungs.h` declares; they include `API`.
C_API = (
    "bindings/c_chess.cpp",
    "bindings/c_cartpole.cpp",
    "bindings/c_search.cpp",
    "bindings/c_network.cpp",
    "bindings/c_api.cpp",
)
LEARN = "bindings/learn.cpp"
MPI = "bindings/mpi.cpp"
DEVICE = "bindings/device.cpp"

# Seconds. A look at all files takes half a millisecond, and every perft and environment needs one.
_LOOKS_EVERY = 0.1


def fingerprint() -> str:
    """Returns a hash of all C++ files, as they were at most a tenth of a second ago."""
    return _fingerprint_at(paths.CPP, int(time.monotonic() / _LOOKS_EVERY))


@functools.lru_cache(maxsize=1)
def _fingerprint_at(root: Path, _moment: int) -> str:
    files = []
    try:
        for folder, _, names in os.walk(root, onerror=_raise):
            for name in names:
                if name.endswith((".h", ".hpp", ".cpp")) or folder == str(root / "cuda"):
                    path = os.path.join(folder, name)
                    stat = os.stat(path)
                    files.append((path, stat.st_mtime_ns, stat.st_size, stat.st_ino))
        return _hash(str(root), tuple(sorted(files)))
    except OSError as error:
        raise CompilerError(f"the C++ can't be read: {error}") from None


def _raise(error: OSError) -> None:
    raise error


# Files with the same dates and sizes are not read again.
@functools.lru_cache(maxsize=16)
def _hash(root: str, files: tuple[tuple[str, int, int, int], ...]) -> str:
    digest = hashlib.sha256()
    for path, *_ in files:
        digest.update(os.path.relpath(path, root).encode() + b"\0" + Path(path).read_bytes())
    return digest.hexdigest()[:16]
