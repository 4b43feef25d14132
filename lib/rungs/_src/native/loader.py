"""Loads the functions of `cpp/bindings`: from a wheel, compiled by g++, or by Cling."""

import contextlib
import os
from collections.abc import Callable

from rungs._src.core.arguments import choice
from rungs._src.native import cling, gpp, wheel
from rungs._src.native.abi import Api
from rungs._src.threads import openmp
from rungs.errors import CompilerError, UnavailableError

WHEEL, GPP, CLING = COMPILERS = ("wheel", "g++", "cling")


def load(compiler: str | None = None) -> Api:
    """Loads the functions; each releases the interpreter lock.

    `compiler` is "wheel", the compiled code of the installation; "g++", compiled for this
    processor, once for this version of the sources; or "cling", compiled in each process. None: the
    environment variable `RUNGS_COMPILER`, else the wheel's code, else g++, else Cling where it
    alone is installed.
    """
    prepare(compiler)
    return _loaded(_LOADERS[chosen(compiler)])


def chosen(compiler: str | None = None) -> str:
    """Returns the compiler that `load` uses; raises ConfigurationError as `load`."""
    if compiler is not None:
        return choice("compiler", compiler, COMPILERS)
    if name := os.environ.get("RUNGS_COMPILER"):
        return choice("RUNGS_COMPILER", name, COMPILERS)
    return WHEEL if wheel.is_here() else installed_compiler()


def installed_compiler() -> str:
    """Returns g++, which compiles once and not in each process, unless Cling alone is installed."""
    return CLING if cling.is_here() and not gpp.is_here() else GPP


def load_learn(compiler: str | None = None) -> Api:
    """Loads the functions of `cpp/bindings/learn.cpp`; as `load`."""
    return _loaded(_LEARNERS[chosen(compiler)])


def bfloat16_unit(api: Api) -> str:
    """Returns the unit by which `load_learn`'s functions multiply bfloat16 in this process: "AMX",
    for which it asks the system, or "AVX512-BF16"; raises UnavailableError where there is none.
    """
    if not api.rungs_learn_has_bfloat16():
        raise UnavailableError("the C++ was compiled without bfloat16 products (AVX512-BF16)")
    return "AMX" if api.rungs_learn_request_amx() else "AVX512-BF16"


def load_openmp(compiler: str | None = None) -> Api:
    """Loads the functions with OpenMP's, which g++ or Cling compiles where a wheel lacks them."""
    chose = chosen(compiler)
    if chose == WHEEL and not wheel.has_openmp():
        chose = installed_compiler()
    openmp.load(_CALLS[chose])
    return _loaded(_OPENMP[chose])


def load_team(compiler: str | None = None) -> Api | None:
    """Loads what `load_openmp` does where g++ compiled it; returns None where that isn't here."""
    chose = chosen(compiler)
    if chose == CLING or (chose == WHEEL and not wheel.has_openmp()):
        return None
    return load_openmp(chose)


def load_mpi() -> Api:
    """Loads the functions with OpenMP's and those of the MPI rung; as `load`. Initialises MPI."""
    compiler = installed_compiler() if chosen() == WHEEL else chosen()
    openmp.load(_CALLS[compiler])
    return _loaded(gpp.load_mpi if compiler == GPP else cling.load_mpi)


def prepare(compiler: str | None = None) -> None:
    """Loads OpenMP's runtime where code needs one: Cling's can't use PyTorch's."""
    if (chose := chosen(compiler)) != WHEEL:
        with contextlib.suppress(UnavailableError, OSError):  # raised again where it is needed
            openmp.load(_CALLS[chose])


def _loaded(load: Callable[[], Api]) -> Api:
    try:
        return load()
    except OSError as error:  # too many open files or processes
        raise CompilerError(f"the C++ can't be compiled or loaded: {error}") from None


_LOADERS = {WHEEL: wheel.load, GPP: gpp.load, CLING: cling.load}
_OPENMP = _LOADERS | {WHEEL: wheel.load_openmp}
_CALLS = {WHEEL: openmp.GCC, GPP: openmp.GCC, CLING: openmp.CLANG}
_LEARNERS = {WHEEL: wheel.load, GPP: gpp.load_learn, CLING: cling.load_learn}
