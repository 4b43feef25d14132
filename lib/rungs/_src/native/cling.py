"""C++ compiled as it is loaded, by Cling; the only module that imports cppyy.

Cling, the interpreter beneath cppyy, is Clang: with `-O3 -march=native` it makes the same kind of
code as an ahead-of-time compiler. It takes flags only before its first import, and only with a
precompiled header made with the same flags, so this module must be the first to import cppyy.
`rungs._src.threads.openmp` loads the OpenMP runtime that its code calls.
"""

import contextlib
import ctypes
import importlib.metadata
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

from rungs._src import paths
from rungs._src.core.once import once
from rungs._src.machine.cpu import cpu_features
from rungs._src.native import cache, headers, mpi
from rungs._src.native.abi import Api
from rungs._src.programs import COMPILING, run_program
from rungs._src.threads import openmp
from rungs.errors import CompilerError, UnavailableError, install_hint

_MEMORY = 320 << 20  # bytes of address space; with fewer Cling ends the process
FLAGS = "-O3 -march=native -std=c++20 -fopenmp"


def is_here() -> bool:
    return importlib.util.find_spec("cppyy") is not None


def interpreter() -> Any:
    """Returns cppyy with our flags and an OpenMP runtime, before anything is compiled."""
    if not is_here():
        raise UnavailableError(f"Cling (cppyy) is not here: {install_hint('cling')}")
    _import_cppyy()
    openmp.load()
    import cppyy

    return cppyy


def load() -> Api:
    """Compiles the functions of `cpp/bindings`, which takes some seconds in each process."""
    if headers.fingerprint() != _compile():
        raise CompilerError(
            "the headers in cpp/ have changed since this process compiled them, and C++ can't be "
            "redefined: restart the kernel"
        )
    return _functions()


def load_mpi() -> Api:
    """Compiles the functions of `load`, and of `cpp/bindings/mpi.cpp`. Initialises MPI."""
    if not is_here():  # the extra `mpi` brings Cling, too
        raise UnavailableError(f"no MPI (No module named 'cppyy'): {install_hint('mpi')}")
    functions = load()
    _include_mpi()
    return functions


def load_learn() -> Api:
    functions = load()
    include(headers.LEARN)
    return functions


@once
def _include_mpi() -> None:
    library = mpi.library()
    import cppyy

    # mpi4py loads the library's symbols for itself alone; Cling needs them too.
    ctypes.CDLL(str(library), ctypes.RTLD_GLOBAL)
    cppyy.add_include_path(str(mpi.headers(library)))
    include(headers.MPI)


@once
def _compile() -> str:
    """Returns the version of the headers, which can't be compiled again in this process."""
    version = headers.fingerprint()
    interpreter()
    include(*headers.API)
    # Cling silently ignores -fopenmp where its precompiled header was made without it.
    if not _functions().rungs_openmp_version():
        raise CompilerError("Cling compiled without OpenMP")
    return version


@once
def include(*sources: str) -> None:
    """Compiles sources below `cpp/`; raises CompilerError where Cling rejects them."""
    import cppyy

    try:
        with contextlib.chdir(paths.CPP):
            cppyy.cppdef("\n".join(f'#include "{paths.CPP / source}"' for source in sources))
    except SyntaxError as error:
        raise CompilerError(f"Cling could not compile {', '.join(sources)}: {error}") from error


@once
def _functions() -> Api:
    import cppyy

    class Functions:
        def __getattr__(self, name: str) -> Any:
            function = getattr(cppyy.gbl.rungs.calls, name)
            function.__release_gil__ = True
            setattr(self, name, function)
            return function

    return Functions()


def _import_cppyy() -> None:
    if "cppyy" in sys.modules and os.environ.get("EXTRA_CLING_ARGS") != FLAGS:
        raise CompilerError(
            "cppyy was imported before Rungs could set its compiler flags: import rungs first"
        )
    if "cppyy" not in sys.modules:
        _require_memory()
    os.environ["EXTRA_CLING_ARGS"] = FLAGS
    # cppyy looks for its settings, libraries and headers in the current folder first.
    with contextlib.chdir(paths.CPP):
        os.environ["CLING_STANDARD_PCH"] = str(_precompiled_header())
        os.environ["CLING_REBUILD_PCH"] = "0"  # what was checked is what is loaded
        import cppyy  # noqa: F401


def _require_memory() -> None:
    import resource  # which Windows lacks

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY or sys.platform != "linux":
        return
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    if limit - used < _MEMORY:
        raise CompilerError(
            f"Cling needs {_MEMORY >> 20} MiB of address space, of which this process may have "
            f"{max(0, limit - used) >> 20} more: raise its limit (ulimit -v)"
        )


def _precompiled_header() -> Path:
    """Returns Cling's standard header, precompiled with our flags in a process of its own, once."""
    spec = importlib.util.find_spec("cppyy_backend")
    backend = spec.submodule_search_locations[0]  # type: ignore[union-attr,index]  # cppyy needs it
    # The header names the files it was made from, and cppyy checks their folder's date.
    sources = (backend, os.stat(os.path.join(backend, "include")).st_mtime_ns)
    version = importlib.metadata.version("cppyy-cling")
    return cache.built("cling", (FLAGS, cpu_features(), version, sources), _precompile)


def _precompile(path: Path) -> None:
    command = [sys.executable, "-P", "-c", "import cppyy"]
    try:
        build = run_program(command, COMPILING, env=os.environ | {"CLING_STANDARD_PCH": str(path)})
    except UnavailableError as error:
        raise CompilerError(str(error)) from None
    if build.returncode or not path.exists():
        raise CompilerError(f"cppyy could not precompile its header: {build.stderr}")
