"""One OpenMP runtime for the whole process, which runs PyTorch's loops and ours.

Two would have threads that stay awake for milliseconds after each loop and compete for the same
cores. All runtimes have the same functions, and code calls those of the runtime that was loaded
first. So g++'s code, which any runtime can run, takes PyTorch's where that was imported first.
Cling's code calls functions that PyTorch's, which is GCC's, lacks: for Cling ours must be loaded
before PyTorch is imported.
"""

import ctypes
import functools
import importlib.metadata
import os
import re
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

from rungs._src.core.arguments import shortened
from rungs._src.machine.cpu import callers_level
from rungs._src.threads.pool import refused
from rungs.errors import OversubscriptionWarning, UnavailableError, install_hint

# The function that begins a parallel region, by the compiler of the code that calls it.
GCC, CLANG = "GOMP_parallel", "__kmpc_fork_call"

# The library's name on Linux, macOS and Windows.
_LIBRARIES = {"libiomp5.so", "libiomp5.dylib", "libiomp5md.dll"}

# Address space that a thread may take: its stack where the runtime is GCC's, and the allocator's.
_STACK, _HEAP = 8 * 2**20, 128 * 2**20

# `number` and `wanted`: the largest team that the calling thread has had, and has requested.
_had = threading.local()

# A million threads or more in OMP_NUM_THREADS: the runtime takes minutes, or ends the process.
_TOO_MANY = re.compile("[1-9][0-9]{6}")

# Values of an environment variable that the runtime reads as false, also when abbreviated.
_FALSE = ("false", "off", "0", ".false.", "no", "disabled")

# GCC's runtime, where our code calls it.
_gccs: ctypes.CDLL | None = None

# Whether a forked child could start no threads, as the runtime keeps its parent's; whether this
# process is such a child.
_stays = _is_lost = False


@functools.cache
def load(calls: str = CLANG) -> bool:
    """Loads an OpenMP runtime, unless the process has one that the code to be loaded can call.

    It is intel-openmp's, which is Clang's and has GCC's functions, too. Where that isn't installed,
    code of g++ gets GCC's.

    Args:
        calls: what the code calls, `GCC` or `CLANG`.

    Returns:
        Whether PyTorch was there first, with a runtime that the code can't call.

    Raises:
        UnavailableError: there is none to load, or it can't start with `OMP_NUM_THREADS`.
    """
    if library(calls):
        return False
    torch_was_first = "torch" in sys.modules
    if not (_load_intels() or (calls == GCC and _load_gccs())):
        raise UnavailableError(
            f"OpenMP is not here: {install_hint('cling')}; the rung threads needs none"
        )
    return torch_was_first


def _load_intels() -> bool:
    """Loads intel-openmp's library and configures its threads; False where it isn't installed.

    Between loops they spin, as a step may be shorter than waking a thread, unless there are more
    threads than cores; after a millisecond they sleep.
    """
    try:
        package = importlib.metadata.distribution("intel-openmp")
    except importlib.metadata.PackageNotFoundError:
        return False
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    if _TOO_MANY.search(wanted):
        text = f"OpenMP can't start with OMP_NUM_THREADS={shortened(wanted)}: a million is too much"
        raise UnavailableError(text)
    os.environ.setdefault("KMP_USE_YIELD", "2")
    os.environ.setdefault("KMP_BLOCKTIME", "1")
    # A forked child starts its own threads. With KMP_INIT_AT_FORK=FALSE it would wake its parent's
    # and crash (see `team`), or wait for them when it ends. Scikit-learn sets that on
    # import, which is overwritten; a value that the user has set is kept.
    if "sklearn" in sys.modules:
        os.environ["KMP_INIT_AT_FORK"] = "TRUE"
    os.environ.setdefault("KMP_INIT_AT_FORK", "TRUE")
    (file,) = [file for file in package.files or () if file.name in _LIBRARIES]
    ctypes.CDLL(str(Path(str(package.locate_file(file))).resolve()), ctypes.RTLD_GLOBAL)
    return True


def _load_gccs() -> bool:
    """Loads the system's GCC runtime; returns False where there is none."""
    try:
        ctypes.CDLL("libgomp.so.1", ctypes.RTLD_GLOBAL)
    except OSError:
        return False
    return True


class _Symbol(ctypes.Structure):
    """`Dl_info`: an address's symbol and library."""

    _fields_ = (
        ("library", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


def library(calls: str) -> ctypes.CDLL | None:
    """Returns the runtime that code loaded from now on calls; None where the process has none."""
    if os.name != "posix":
        return None
    process = ctypes.CDLL(None)
    function, symbol = getattr(process, calls, None), _Symbol()
    if not (function and process.dladdr(function, ctypes.byref(symbol))):
        return None
    return ctypes.CDLL(os.fsdecode(symbol.library))


@functools.cache
def _warn_of_two() -> None:
    """Warns once per process."""
    text = (
        "PyTorch's OpenMP runtime was loaded before ours: their threads compete for cores. "
        "Call rungs.machine.load_openmp() before `import torch`, or use code of g++, which runs "
        'on PyTorch\'s threads: compiler="g++"'
    )
    warnings.warn(text, OversubscriptionWarning, stacklevel=callers_level())


def team(api: Any, number: int, fewer: bool = False) -> int:
    """Returns the number of threads in the calling thread's team, including itself.

    OpenMP ends the process if the system refuses it a thread during a step. So `number` threads are
    started here first, all at once, unless this thread has had as many before. With `fewer`, fewer
    than `number` do.
    """
    global _gccs, _stays
    had = getattr(_had, "number", 1)
    if number <= had:
        return number
    if fewer and number <= getattr(_had, "wanted", 1):
        return had
    if _is_lost:
        raise UnavailableError(
            "OpenMP has run in the process that this one was forked from, and its runtime can't "
            "start again: KMP_INIT_AT_FORK is false, or GCC's is older than version 9. Use the "
            "rung threads"
        )
    calls = CLANG if api.rungs_openmp_is_clangs() else GCC
    if load(calls):
        _warn_of_two()
    runtime: Any = library(calls)
    stack = _STACK
    if hasattr(runtime, "kmp_get_stacksize_s"):  # Clang's
        runtime.kmp_get_stacksize_s.restype = ctypes.c_size_t
        stack = runtime.kmp_get_stacksize_s()
        at_fork = os.environ.get("KMP_INIT_AT_FORK", "").strip().lower()
        _stays = _stays or (at_fork != "" and any(word.startswith(at_fork) for word in _FALSE))
    elif hasattr(runtime, "omp_pause_resource_all"):
        _gccs = runtime
    else:
        _stays = True
    startable = api.rungs_startable_threads(number, stack + _HEAP)
    if startable == number or fewer:  # OpenMP has limits of its own
        startable = api.rungs_openmp_team_size(startable)
    if startable < number and not fewer:
        raise refused(startable, number)
    _had.number, _had.wanted = max(had, startable), number
    return _had.number


def _end_team() -> None:
    """Ends the calling thread's team in GCC's runtime: a forked child would wait for it forever."""
    if _gccs:
        _gccs.omp_pause_resource_all(1)  # omp_pause_soft; the next loop starts another
        _had.number = _had.wanted = 1


def _forget() -> None:
    global _had, _is_lost
    _had, _is_lost = threading.local(), _stays


if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(before=_end_team, after_in_child=_forget)
