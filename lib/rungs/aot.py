"""C++ compiled ahead of time by g++: the control for `rungs.jit`, from the same header."""

import ctypes
import functools
import hashlib
import subprocess
from pathlib import Path

from rungs import cache, headers
from rungs.errors import CompilerError
from rungs.machine.cpu import cpu_features

COMPILER = "g++"
FLAGS = "-O3 -std=c++20 -fopenmp -shared -fPIC"

_ADDRESS, _INTEGER = ctypes.c_size_t, ctypes.c_int64


class _Array:
    """An argument that is an array, given by its address."""

    @staticmethod
    def from_param(array):
        return ctypes.c_size_t(ctypes.addressof(ctypes.c_char.from_buffer(array)))


_SIGNATURES = {
    "rungs_chess_batch_bytes": (_INTEGER, ()),
    "rungs_chess_env_bytes": (_INTEGER, ()),
    "rungs_chess_history_bytes": (_INTEGER, ()),
    "rungs_chess_serial_reset": (None, (_ADDRESS, _ADDRESS, _INTEGER)),
    "rungs_chess_serial_step": (_INTEGER, (_ADDRESS, _Array, _ADDRESS)),
    "rungs_chess_serial_begin_with": (None, (_ADDRESS, _ADDRESS)),
    "rungs_chess_serial_write": (None, (_ADDRESS,)),
    "rungs_openmp_version": (_INTEGER, ()),
    "rungs_openmp_team_size": (_INTEGER, (_INTEGER,)),
    "rungs_chess_openmp_reset": (None, (_ADDRESS, _ADDRESS, _INTEGER, _ADDRESS)),
    "rungs_chess_openmp_step": (_INTEGER, (_ADDRESS, _Array, _ADDRESS, _ADDRESS)),
    "rungs_chess_episode": (_INTEGER, (_ADDRESS, _INTEGER)),
    "rungs_chess_position": (_ADDRESS, (_ADDRESS, _INTEGER)),
    "rungs_chess_fen": (None, (_ADDRESS, _ADDRESS)),
    "rungs_chess_parse_fen": (None, (_ADDRESS, _ADDRESS, _ADDRESS)),
    "rungs_chess_perft": (_INTEGER, (_ADDRESS, _INTEGER)),
}


def load(march: str = "native"):
    """The functions of `cpp/rungs/api.hpp` from a shared library, built if it isn't there yet.

    After a header has changed they are those of another library, as the header is now.

    Args:
        march: the processors it is for, as g++ names them.

    Raises:
        CompilerError: there is no g++, or it refuses the headers; the message holds what it said.
    """
    flags = [*FLAGS.split(), f"-march={march}", "-x", "c++"]
    return _loaded(build("aot", headers.CPP / headers.API, flags))


@functools.cache
def _loaded(path: Path):
    library = ctypes.CDLL(str(path))
    for function, (result, arguments) in _SIGNATURES.items():
        getattr(library, function).restype = result
        getattr(library, function).argtypes = arguments
    return library


def build(name: str, source: Path, flags: list[str]) -> Path:
    """A file that g++ makes of a source of ours, built if it isn't there yet.

    Raises:
        CompilerError: as `load`.
    """
    beside = [path.read_text() for path in sorted(source.parent.glob("*.[ch]pp"))]
    # With the source's path, as it is in what debuggers and profilers are told.
    identity = (str(source), beside, headers.fingerprint(), version(), flags)
    digest = hashlib.sha256(repr((*identity, cpu_features())).encode()).hexdigest()
    path = cache.directory() / f"{name}-{digest[:16]}"
    with cache.build(path) as unfinished:
        if unfinished:
            run([COMPILER, *flags, str(source), "-o", str(unfinished)])
    return path


def version() -> str:
    """The compiler's version line."""
    return run([COMPILER, "--version"]).splitlines()[0]


def run(command: list[str]) -> str:
    """What a compiler or a tool beside it says; CompilerError where it is missing or fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        raise CompilerError(f"{command[0]} is not installed") from None
    if done.returncode:
        raise CompilerError(f"{command[0]} failed: {done.stderr}")
    return done.stdout
