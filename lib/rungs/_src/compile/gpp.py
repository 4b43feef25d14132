"""C++ compiled ahead of time by g++: the control for Cling's, from the same files."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from rungs._src import paths
from rungs._src.compile import cache, functions, headers, openmp
from rungs._src.machine.cpu import cpu_features
from rungs.errors import CompilerError

COMPILER = "g++"
_LIBRARY = "-O3 -std=c++20 -ffp-contract=off -shared -fPIC"
FLAGS = f"{_LIBRARY} -fopenmp"


def load(march: str = "native") -> functions.Api:
    """Loads the functions of `cpp/bindings` from a shared library, built if it isn't there.

    After a file has changed they are those of another library, as the header is now.

    Args:
        march: the processors it is for, as g++ names them.

    Raises:
        CompilerError: there is no g++, or it refuses the headers; the message holds what it said.
    """
    return _loaded("gpp", headers.API, [*FLAGS.split(), f"-march={march}"])


def load_steps(*flags: str) -> functions.Api:
    """Loads the functions of `cpp/course/steps.cpp`, compiled with flags of one's choice.

    Raises:
        CompilerError: as `load`.
    """
    every = [*flags, "-std=c++20", "-shared", "-fPIC", "-w"]
    return _loaded("steps-versions", [headers.STEPS], every)


def load_learn() -> functions.Api:
    """Loads the functions of `cpp/bindings/learn.cpp`.

    Raises:
        CompilerError: as `load`.
    """
    return _loaded("learn", [headers.LEARN], [*_LIBRARY.split(), "-pthread", "-march=native"])


def load_device(vectors: bool) -> functions.Api:
    """Loads the functions of `cpp/bindings/device.cpp`, with a processor's vectors or without.

    Raises:
        CompilerError: as `load`.
    """
    scalar = [] if vectors else ["-DRUNGS_SCALAR_LANES"]
    return _loaded("device", [headers.DEVICE], [*FLAGS.split(), "-march=native", *scalar])


def load_course() -> functions.Api:
    """Loads the functions of `cpp/course/bindings.cpp`, which OpenMP's threads help.

    Raises:
        CompilerError: as `load`.
        UnavailableError: OpenMP's runtime is not here.
    """
    openmp.load()
    return _loaded("course", [headers.COURSE], [*FLAGS.split(), "-march=native"])


def load_machine() -> functions.Api:
    """Loads the functions of `cpp/course/peaks.cpp`, a multiply-add one instruction.

    Raises:
        CompilerError: as `load`.
    """
    flags = [*_LIBRARY.split(), "-ffp-contract=fast", "-pthread", "-march=native"]
    return _loaded("machine", [headers.MACHINE], flags)


def _loaded(name: str, sources: Sequence[str], flags: list[str]) -> functions.Api:
    first, *others = (paths.CPP / source for source in sources)
    return functions.bound(build(name, first, [*flags, *map(str, others)]))


def build(name: str, source: Path, flags: list[str], compiler: str = COMPILER) -> Path:
    """Builds a file from a source of ours by a g++, if it isn't there yet.

    Sources beside it may be named among the flags.

    Raises:
        CompilerError: as `load`.
    """
    beside = [path.read_text() for path in sorted(source.parent.glob("*.[ch]pp"))]
    # With the source's path, as it is in what debuggers and profilers are told.
    identity = (str(source), beside, headers.fingerprint(), version(compiler), flags)
    return cache.built(
        name,
        (*identity, cpu_features()),
        lambda path: run([compiler, *flags, str(source), "-o", str(path)]),
    )


def is_here() -> bool:
    """Says whether there is a g++."""
    return shutil.which(COMPILER) is not None


def version(compiler: str = COMPILER) -> str:
    """Returns a compiler's version line."""
    return run([compiler, "--version"]).splitlines()[0]


def run(command: list[str]) -> str:
    """Runs a compiler or a tool beside it; CompilerError where it is missing or fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        raise CompilerError(
            f"{command[0]} is not installed: install it, or a wheel of Rungs, which needs none"
        ) from None
    if done.returncode:
        raise CompilerError(f"{command[0]} failed: {done.stderr}")
    return done.stdout
