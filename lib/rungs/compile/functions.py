"""C++ functions of a shared library, with what they take and return as their header spells it."""

import ctypes
import functools
import re
from pathlib import Path
from typing import Any

from rungs import paths
from rungs.errors import CompilerError

# The functions of `cpp/bindings/api.hpp`: ctypes's or cppyy's, which learn their names from C++.
Api = Any


class _Array:
    """An argument that is an array, given by its address: as ctypes gives arrays of its own."""

    from_param = (ctypes.c_char * 0).from_buffer  # no Python in between


_TYPES = {
    "void": None,
    "double": ctypes.c_double,
    "std::int32_t": ctypes.c_int32,
    "std::int64_t": ctypes.c_int64,
    "std::uintptr_t": ctypes.c_size_t,
    "const std::int64_t*": _Array,
    "double*": _Array,
    "std::int32_t*": _Array,
}
HEADERS = tuple(
    f"bindings/{name}.hpp" for name in ("chess", "team", "threads", "cartpole", "search")
)
LEARN_HEADERS = ("bindings/learn.hpp",)
_FUNCTION = re.compile(r"^([\w:]+) (rungs_\w+)\(([^)]*)\) \{", re.MULTILINE)


@functools.cache
def bound(path: Path, headers: tuple[str, ...] = HEADERS) -> ctypes.CDLL:
    """Loads a library that was compiled from `cpp/bindings/api.hpp`, once per path.

    Args:
        path: the library's.
        headers: below `cpp/`, whose functions it holds.

    Raises:
        CompilerError: the system can't load it, or it lacks a function.
    """
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise CompilerError(f"{path} can't be loaded: {error}") from None
    text = "".join((paths.CPP / name).read_text() for name in headers)
    for result, name, taken in _FUNCTION.findall(text):
        function = getattr(library, name, None)
        if function is None:
            raise CompilerError(f"{path} was compiled from other headers: it lacks {name}")
        function.restype = _TYPES[result]
        function.argtypes = [
            _TYPES[each.rsplit(" ", 1)[0].strip()] for each in taken.split(",") if each
        ]
    return library
