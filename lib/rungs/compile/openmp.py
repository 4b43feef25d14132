"""One OpenMP runtime for all of a process: the one that Cling's code needs.

PyTorch brings another, whose threads stay awake on the cores for milliseconds after each of its
loops, in the way of ours. But it calls functions that ours has too, and takes those of whichever
runtime was loaded first. So `import rungs` loads ours, and then PyTorch's loops and our steps share
one team of threads.
"""

import ctypes
import functools
import importlib.metadata
import os
import sys
import warnings
from pathlib import Path

from rungs.errors import OversubscriptionWarning


@functools.cache
def load() -> bool:
    """Loads intel-openmp's library, which is Clang's runtime, and says how its threads wait.

    Between two loops they keep awake, as a step may be shorter than a thread takes to wake, unless
    there are more threads than cores; after a millisecond they leave the cores to others.

    Returns:
        Whether PyTorch was there first, with its own.
    """
    os.environ.setdefault("KMP_USE_YIELD", "2")
    os.environ.setdefault("KMP_BLOCKTIME", "1")
    package = importlib.metadata.distribution("intel-openmp")
    (library,) = [file for file in package.files if file.name == "libiomp5.so"]
    torch_was_first = "torch" in sys.modules
    ctypes.CDLL(str(Path(package.locate_file(library)).resolve()), ctypes.RTLD_GLOBAL)
    return torch_was_first


@functools.cache
def warn_of_two() -> None:
    """Warns, once per process, where PyTorch's runtime is beside ours."""
    if load():
        text = "torch was imported before rungs: their threads are in each other's way"
        warnings.warn(text, OversubscriptionWarning, stacklevel=4)
