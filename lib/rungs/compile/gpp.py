"""C++ compiled ahead of time by g++: the control for Cling's, from the same header."""

import shutil
import subprocess
from pathlib import Path

from rungs import paths
from rungs.compile import cache, functions, headers
from rungs.errors import CompilerError
from rungs.machine.cpu import cpu_features

COMPILER = "g++"
_LIBRARY = "-O3 -std=c++20 -ffp-contract=off -shared -fPIC"
FLAGS = f"{_LIBRARY} -fopenmp"


def load(march: str = "native") -> functions.Api:
    """Loads the functions of `cpp/bindings/api.hpp` from a shared library, built if it isn't there.

    After a header has changed they are those of another library, as the header is now.

    Args:
        march: the processors it is for, as g++ names them.

    Raises:
        CompilerError: there is no g++, or it refuses the headers; the message holds what it said.
    """
    flags = [*FLAGS.split(), f"-march={march}", "-x", "c++"]
    return functions.bound(build("gpp", paths.CPP / headers.API, flags))


def load_steps(*flags: str) -> functions.Api:
    """Loads the functions of `cpp/course/steps.hpp`, compiled with flags of the caller's choice.

    Raises:
        CompilerError: as `load`.
    """
    every = [*flags, "-std=c++20", "-shared", "-fPIC", "-w", "-x", "c++"]
    path = build("steps-versions", paths.CPP / headers.STEPS_API, every)
    return functions.bound(path, (headers.STEPS_API,))


def load_learn() -> functions.Api:
    """Loads the functions of `cpp/bindings/learn.hpp`, and their teams of threads.

    Raises:
        CompilerError: as `load`.
    """
    flags = [*_LIBRARY.split(), "-pthread", "-march=native", "-x", "c++"]
    path = build("learn", paths.CPP / headers.LEARN_API, flags)
    return functions.bound(path, functions.LEARN_HEADERS)


def load_machine() -> functions.Api:
    """Loads the functions of `cpp/bindings/machine.hpp`, with multiply-adds as one instruction.

    Raises:
        CompilerError: as `load`.
    """
    flags = [*_LIBRARY.split(), "-ffp-contract=fast", "-pthread", "-march=native", "-x", "c++"]
    path = build("machine", paths.CPP / headers.MACHINE_API, flags)
    return functions.bound(path, (headers.MACHINE_API,))


def build(name: str, source: Path, flags: list[str], compiler: str = COMPILER) -> Path:
    """Builds a file from a source of ours by a g++, if it isn't there yet.

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
