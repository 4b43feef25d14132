"""One OpenMP runtime for the whole process: the one that Cling's code needs.

PyTorch brings another, whose threads stay awake for milliseconds after each loop and compete with
ours for cores. Both runtimes have the same functions, and PyTorch takes those that were loaded
first: if ours is loaded before PyTorch is imported, they share one team of threads.
"""

import ctypes
import functools
import importlib.metadata
import os
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

from rungs._src.threads.pool import refused
from rungs.errors import OversubscriptionWarning, UnavailableError, install_hint

# The library's name on Linux, macOS and Windows.
_LIBRARIES = {"libiomp5.so", "libiomp5.dylib", "libiomp5md.dll"}

# Address space that the allocator may take for each thread, in addition to its stack.
_HEAP = 128 * 2**20

# The largest team that each calling thread has had.
_had = threading.local()

# Values of an environment variable that the runtime reads as false, also when abbreviated.
_FALSE = ("false", "off", "0", ".false.", "no", "disabled")

# Whether a forked child could start no threads, as KMP_INIT_AT_FORK is false; whether this is one.
_stays = _is_lost = False


@functools.cache
def load() -> bool:
    """Loads intel-openmp's library, which is Clang's runtime, and sets how its threads wait.

    Between loops they spin, as a step may be shorter than waking a thread, unless there are more
    threads than cores; after a millisecond they sleep.

    Returns:
        Whether PyTorch was there first, with its own.

    Raises:
        UnavailableError: intel-openmp is not installed.
    """
    os.environ.setdefault("KMP_USE_YIELD", "2")
    os.environ.setdefault("KMP_BLOCKTIME", "1")
    # A forked child starts its own threads. With KMP_INIT_AT_FORK=FALSE it would wake its parent's
    # and crash (see `require_threads`), or wait for them when it ends. Scikit-learn sets that on
    # import, which is overwritten; a value that the user has set is kept.
    if "sklearn" in sys.modules:
        os.environ["KMP_INIT_AT_FORK"] = "TRUE"
    os.environ.setdefault("KMP_INIT_AT_FORK", "TRUE")
    try:
        package = importlib.metadata.distribution("intel-openmp")
    except importlib.metadata.PackageNotFoundError:
        raise UnavailableError(
            f"OpenMP is not here: {install_hint('cling')}; the rung threads needs none"
        ) from None
    (library,) = [file for file in package.files or () if file.name in _LIBRARIES]
    torch_was_first = "torch" in sys.modules
    path = str(Path(str(package.locate_file(library))).resolve())
    ctypes.CDLL(path, ctypes.RTLD_GLOBAL)
    return torch_was_first


@functools.cache
def warn_of_two() -> None:
    """Warns, once per process, where PyTorch's runtime was loaded first."""
    if load():
        text = (
            "PyTorch's OpenMP runtime was loaded before ours: their threads are in each other's "
            "way. Call rungs.machine.load_openmp() before `import torch`"
        )
        warnings.warn(text, OversubscriptionWarning, stacklevel=4)


def require_threads(api: Any, number: int) -> None:
    """Checks that the calling thread can have a team of `number` threads, including itself.

    OpenMP ends the process if the system refuses it a thread during a step. So `number` threads are
    started here first, all at once, unless this thread has had as many before.

    Args:
        api: the compiled functions of `cpp/bindings`, of `rungs._src.native`.
        number: of threads.

    Raises:
        UnavailableError: the system gives fewer, the message says how many; or this process was
            forked from one where threads ran, with `KMP_INIT_AT_FORK` false.
    """
    global _stays
    if number <= getattr(_had, "number", 1):
        return
    if _is_lost:
        raise UnavailableError(
            "OpenMP has run in the process that this one was forked from, and KMP_INIT_AT_FORK is "
            "false: unset it, or use the rung threads"
        )
    load()
    at_fork = os.environ["KMP_INIT_AT_FORK"].strip().lower()
    _stays = _stays or (at_fork != "" and any(each.startswith(at_fork) for each in _FALSE))
    stack = ctypes.CDLL(None).kmp_get_stacksize_s
    stack.restype = ctypes.c_size_t
    given = api.rungs_startable_threads(number, stack() + _HEAP)
    if given < number:
        raise refused(given, number)
    _had.number = number


def _forget() -> None:
    global _had, _is_lost
    _had, _is_lost = threading.local(), _stays


if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(after_in_child=_forget)
