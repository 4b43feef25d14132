"""One OpenMP runtime for all of a process: the one that Cling's code needs.

PyTorch brings another, whose threads stay awake on the cores for milliseconds after each of its
loops, in the way of ours. But it calls functions that ours has too, and takes those of whichever
runtime was loaded first. Where ours is loaded before PyTorch is imported, PyTorch's loops and our
steps share one team of threads.
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

from rungs._src.threads.team import refused
from rungs.errors import OversubscriptionWarning, UnavailableError, install_hint

# What the library is called on Linux, macOS and Windows.
_LIBRARIES = {"libiomp5.so", "libiomp5.dylib", "libiomp5md.dll"}

# Address space that the allocator may take for a thread as it starts, beside its stack.
_HEAP = 128 * 2**20

# How many threads a calling thread has had at once.
_had = threading.local()

# What the runtime reads as false in an environment's variable, or the beginning of one.
_FALSE = ("false", "off", "0", ".false.", "no", "disabled")

# Whether threads have run here that no forked child can start anew; whether this is such a child.
_stays = _is_lost = False


@functools.cache
def load() -> bool:
    """Loads intel-openmp's library, which is Clang's runtime, and says how its threads wait.

    Between two loops they keep awake, as a step may be shorter than a thread takes to wake, unless
    there are more threads than cores; after a millisecond they leave the cores to others.

    Returns:
        Whether PyTorch was there first, with its own.

    Raises:
        UnavailableError: intel-openmp is not installed.
    """
    os.environ.setdefault("KMP_USE_YIELD", "2")
    os.environ.setdefault("KMP_BLOCKTIME", "1")
    # A forked child starts threads of its own. Where that is ruled out it would wake its parent's,
    # and crash (see `require_threads`), or wait for them when it ends. Scikit-learn's import rules
    # it out: that is overwritten; what the user says stands.
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
    """Warns, once per process, where PyTorch's runtime is beside ours."""
    if load():
        text = (
            "PyTorch's OpenMP runtime was loaded before ours: their threads are in each other's "
            "way. Call rungs.machine.load_openmp() before `import torch`"
        )
        warnings.warn(text, OversubscriptionWarning, stacklevel=4)


def require_threads(api: Any, number: int) -> None:
    """Makes sure that the system gives the calling thread a team of so many, itself among them.

    Where a thread is refused to OpenMP in the middle of a step, it ends the whole process. So as
    many are started here first, all at once, unless this thread has had as many before.

    Args:
        api: the compiled functions of `cpp/bindings`, of `rungs._src.native`.
        number: how many.

    Raises:
        UnavailableError: the system refuses, and the message says how many it gives; or this
            process was forked from one where threads ran, with `KMP_INIT_AT_FORK` false.
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
    os.register_at_fork(after_in_child=_forget)  # whose only thread is the one that forked
