"""C++ compiled ahead of time by g++."""

import functools
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rungs._src import paths
from rungs._src.machine.cpu import cpu_features
from rungs._src.native import cache, headers, mpi
from rungs._src.native.abi import Api, load_library
from rungs._src.programs import COMPILING, run_program
from rungs._src.threads import openmp
from rungs.errors import CompilerError, UnavailableError

COMPILER = "g++"
LIBRARY = "-O3 -std=c++20 -ffp-contract=off -shared -fPIC -fvisibility=hidden"
FLAGS = f"{LIBRARY} -fopenmp"


def load(march: str = "native") -> Api:
    """Loads the functions of `cpp/bindings`, built first if the sources have changed."""
    return loaded("gpp", headers.C_API, [*FLAGS.split(), f"-march={march}"])


def load_learn() -> Api:
    return loaded("learn", [headers.LEARN], [*LIBRARY.split(), "-pthread", "-march=native"])


def load_mpi() -> Api:
    """Loads the functions of `load`, and of `cpp/bindings/mpi.cpp`. Initialises MPI."""
    flags = [*FLAGS.split(), "-march=native"]
    return loaded("mpi", [*headers.C_API, headers.MPI], flags, mpi.flags())


def load_game(source: Path) -> Api:
    """Loads the functions of a source that includes `cpp/bindings/game.hpp`, and of threads."""
    openmp.load(openmp.GCC)
    flags = [*FLAGS.split(), "-march=native"]
    threads = _compiled((headers.THREADS, *flags), _identity())
    return load_library(build("game", source, [*flags, f"-I{paths.CPP}", str(threads)]))


def load_device() -> Api:
    """Loads the functions of `cpp/bindings/device.cpp`, without vectors, which no GPU has."""
    flags = [*FLAGS.split(), "-march=native", "-DRUNGS_SCALAR_LANES"]
    return loaded("device", [headers.DEVICE], flags)


def loaded(
    name: str, sources: Sequence[str], flags: Sequence[str], last: Sequence[str] = ()
) -> Api:
    """Loads the functions of sources; `last` are flags of the last one and of the linker, too."""
    commands = [(source, *flags) for source in sources]
    commands[-1] += tuple(last)
    return _loaded(name, tuple(commands), (*flags, *last), _identity())


def _identity() -> tuple[str, ...]:
    """Returns what compiled code depends on besides its command; debug information has the path."""
    return (str(paths.CPP), headers.fingerprint(), _version(), cpu_features())


def _compiled(command: tuple[str, ...], identity: tuple[str, ...]) -> Path:
    """Returns the object of a source below `cpp/`, which comes first, compiled with options."""
    source, *options = command
    return cache.built(
        f"{Path(source).stem}.o",
        (*identity, command),
        lambda path: run([COMPILER, "-c", *options, str(paths.CPP / source), "-o", str(path)]),
    )


@functools.cache
def _loaded(
    name: str,
    commands: tuple[tuple[str, ...], ...],
    flags: tuple[str, ...],
    identity: tuple[str, ...],
) -> Api:
    def link(path: Path) -> None:
        with ThreadPoolExecutor(2) as pool:  # so the source that takes longest comes first
            objects = list(pool.map(lambda command: _compiled(command, identity), commands))
        run([COMPILER, *map(str, objects), *flags, "-o", str(path)])

    return load_library(cache.built(name, (*identity, commands, flags), link))


def build(name: str, source: Path, flags: list[str], compiler: str = COMPILER) -> Path:
    """Builds a file from a source, and others among the flags, if it isn't there yet."""
    try:
        files = sorted(path for path in source.parent.glob("*.[ch]pp") if path.is_file())
        folder = [path.read_bytes() for path in files]
    except OSError as error:
        raise CompilerError(f"the C++ can't be read: {error}") from None
    # The source's path is part of it, as debug information contains it.
    identity = (str(source), folder, headers.fingerprint(), _version(compiler), flags)
    return cache.built(
        name,
        (*identity, cpu_features()),
        lambda path: run([compiler, *flags, str(source), "-o", str(path)]),
    )


def is_here() -> bool:
    return shutil.which(COMPILER) is not None


def version(compiler: str = COMPILER) -> str:
    line, *_ = run([compiler, "--version"]).splitlines() or [""]
    if not line:
        raise CompilerError(f"{compiler} --version prints nothing: it is no compiler")
    return line


_version = functools.cache(version)


def run(command: list[str]) -> str:
    """Runs a compiler or a related tool; raises CompilerError where it can't be run or fails."""
    try:
        result = run_program(
            command, COMPILING, install="install it, or a wheel of Rungs, which needs none"
        )
    except UnavailableError as error:
        raise CompilerError(str(error)) from None
    if result.returncode:
        why = result.stderr or f"exit status {result.returncode}"
        raise CompilerError(f"{command[0]} failed: {why}")
    return result.stdout
