"""C++ functions of a shared library, with what they take and return as the library says it."""

import ctypes
import functools
from pathlib import Path
from typing import Any

from rungs._src.compile import abi
from rungs.errors import CompilerError

# The functions of `cpp/bindings`: ctypes's or cppyy's, which learn their names from C++.
Api = Any


class _Array:
    """An argument that is an array, given by its address: as ctypes gives arrays of its own."""

    from_param = (ctypes.c_char * 0).from_buffer  # no Python in between


@functools.cache
def bound(path: Path) -> ctypes.CDLL:
    """Loads a library that was compiled from `cpp/bindings` or the like, once per path.

    Args:
        path: the library's.

    Raises:
        CompilerError: the system can't load it, or it doesn't say what it holds.
    """
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise CompilerError(f"{path} can't be loaded: {error}") from None
    if not hasattr(library, "rungs_abi"):
        raise CompilerError(f"{path} was compiled from something else: it lacks rungs_abi")
    library.rungs_abi.restype = ctypes.c_size_t
    for name, (result, *taken) in abi.described(library).functions.items():
        function = getattr(library, name)
        function.restype = None if result == "void" else abi.NUMBERS[result]
        function.argtypes = [_Array if "*" in each else abi.NUMBERS[each] for each in taken]
    return library
