"""Peers in C or C++ that are compiled here, from a user's clone and code of ours around it."""

import ctypes
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rungs.devel import cache, gpp, paths
from rungs.errors import UnavailableError
from rungs.machine import cpu_features
from rungs_course.peers import PROJECTS

# Drawing and what else no function of ours needs is left out.
_FLAGS = (
    *("-O3", "-march=native", "-DNDEBUG", "-w", "-shared", "-fPIC"),
    *("-fvisibility=hidden", "-ffunction-sections", "-Wl,--gc-sections"),
)


def folder_of(name: str) -> Path:
    """Returns the clone of a project that its environment variable names."""
    variable = PROJECTS[name].folder
    folder = os.environ.get(variable)
    if not folder:
        raise UnavailableError(f"{name}: {variable} names no folder")
    return Path(folder)


def load(
    source: str,
    headers: Sequence[Path],
    flags: Sequence[str],
    functions: Mapping[str, tuple[Any, ...]],
    compiler: str = gpp.COMPILER,
) -> ctypes.CDLL:
    """Compiles and loads a file of `cpp/course` that includes a clone's headers.

    `headers` are all that it may include, and `functions` says of each by its name what it returns
    and what its arguments are.
    """
    path = paths.CPP / "course" / source
    command = [compiler, *_FLAGS, *flags, str(path)]
    texts = [file.read_bytes() for file in (path, *headers)]
    identity = (command, texts, gpp.version(compiler), cpu_features())
    built = cache.built(path.stem, identity, lambda to: gpp.run([*command, "-o", str(to)]))
    library = ctypes.CDLL(str(built))
    for name, (returns, *arguments) in functions.items():
        function = getattr(library, name)
        function.restype, function.argtypes = returns, arguments
    return library
