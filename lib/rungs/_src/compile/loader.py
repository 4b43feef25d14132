"""The functions of `cpp/bindings`, whoever compiled them."""

import contextlib
import os
from collections.abc import Callable

from rungs._src.compile import cling, gpp, library, openmp
from rungs._src.compile.functions import Api
from rungs._src.core.arguments import choice
from rungs.errors import CompilerError, UnavailableError

WHEEL, GPP, CLING = COMPILERS = ("wheel", "g++", "cling")


def load(compiler: str | None = None) -> Api:
    """Loads the functions; each releases the interpreter lock.

    Args:
        compiler: who compiles them, a name of `COMPILERS`: "wheel", they are compiled and part of
            the installation; "g++", now, for this processor, once for these headers; or "cling",
            now, as they are loaded. None: what the environment's variable `RUNGS_COMPILER` says;
            without it the wheel's, or else those of whichever compiler is here.

    Raises:
        ConfigurationError: there is no such compiler.
        UnavailableError: the installation holds no compiled code.
        CompilerError: the compiler is not here or refuses the headers, a wheel is damaged, or the
            system refuses files or processes.
    """
    prepare(compiler)
    return _loaded(_LOADERS[chosen(compiler)])


def chosen(compiler: str | None = None) -> str:
    """Returns the name of who compiles for `load`; raises ConfigurationError as that."""
    if compiler is not None:
        return choice("compiler", compiler, COMPILERS)
    if asked := os.environ.get("RUNGS_COMPILER"):
        return choice("RUNGS_COMPILER", asked, COMPILERS)
    if library.is_here():
        return WHEEL
    return CLING if cling.is_here() else GPP


def load_learn(compiler: str | None = None) -> Api:
    """Loads the functions of `cpp/bindings/learn.cpp`; as `load`.

    Where nothing says who compiles, g++ does before Cling: once, and not in every process.
    """
    chose = chosen(compiler)
    if compiler is None and chose == CLING and "RUNGS_COMPILER" not in os.environ and gpp.is_here():
        chose = GPP
    return _loaded(_LEARNERS[chose])


def load_openmp(compiler: str | None = None) -> Api:
    """Loads the functions with OpenMP's in them, which no wheel has; as `load`."""
    chose = chosen(compiler)
    if chose == WHEEL:
        chose = CLING if cling.is_here() else GPP
    openmp.load()
    return _loaded(_LOADERS[chose])


def prepare(compiler: str | None = None) -> None:
    """Loads OpenMP's runtime where code is compiled that needs it.

    Whichever runtime comes first is everybody's: PyTorch brings another, so call this before it is
    imported; and g++'s code, once loaded, stays with one whose threads a forked child can't start.
    A wheel's code needs none.
    """
    if chosen(compiler) != WHEEL:
        with contextlib.suppress(UnavailableError, OSError):  # raised again where it is needed
            openmp.load()


def _loaded(load: Callable[[], Api]) -> Api:
    try:
        return load()
    except OSError as error:  # the system gives no more files or processes
        raise CompilerError(f"the C++ can't be compiled or loaded: {error}") from None


_LOADERS = {WHEEL: library.load, GPP: gpp.load, CLING: cling.load}
_LEARNERS = {WHEEL: library.load, GPP: gpp.load_learn, CLING: cling.load_learn}
