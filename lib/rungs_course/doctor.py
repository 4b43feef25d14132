"""Tries what works here, and says how to get what doesn't."""

import contextlib
import dataclasses
import importlib.metadata
import io
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import rungs
from rungs.chess import ChessRung, find_program
from rungs.devel import (
    COMPILING,
    Say,
    cling,
    gpp,
    gpu,
    launch,
    line,
    loader,
    run_program,
    silent,
    wheel,
)
from rungs.errors import CompilerError, RungsError, UnavailableError, install_hint
from rungs.machine import describe, usable_cores
from rungs.version import __version__
from rungs_course import cartpole, peers
from rungs_course.machine import counters, optional
from rungs_course.machine.naming import in_words
from rungs_course.measure.verify import verify_games

_STEPS = 40
_CHESS = "chess on "

# Parts of every installation; without them Rungs is broken.
_NEEDED = ("python", "multiprocessing", "gymnasium", "cpp", "threads")

# A package that stands for each extra.
_EXTRAS = {
    "course": "jupyterlab",
    "book": "sphinx",
    "train": "torch",
    "gpu": "numba-cuda",
    "mpi": "mpi4py",
    "sb3": "sb3-contrib",
    "torchrl": "torchrl",
    "rllib": "ray",
}


@dataclasses.dataclass(frozen=True)
class Finding:
    """The result of trying one thing."""

    name: str
    works: bool
    needed: bool  # in every installation, which is broken if it does not work
    detail: str  # result where it works; else why it doesn't, and how to get it


def examine() -> Iterator[Finding]:
    """Tries one thing after the other; some take seconds."""
    yield from _examine_quickly()
    yield _tried("compilers", _compilers, needed=True)
    yield _tried("bfloat16", lambda: f"multiplied by {loader.bfloat16_unit(loader.load_learn())}")
    cartpole.register()
    for rung in rungs.rungs_of("cartpole"):
        yield _tried(f"cartpole on {rung.name}", partial(_balance, rung.name), rung.name in _NEEDED)


def identity() -> str:
    """Returns the installation and the machine, in a line."""
    facts = describe()
    return f"Rungs {__version__}, Python {facts['python']}, {in_words(facts)}"


def summary() -> str:
    """Returns a few lines on what works here: all but CartPole, whose imports take long."""
    gpp.version()  # before anything is compiled, which takes seconds
    findings = list(_examine_quickly())
    broken = [f"{one.name}: {one.detail}" for one in findings if one.needed and not one.works]
    if broken:
        raise UnavailableError(f"this installation is broken: {'; '.join(broken)}")
    works = [one.name for one in findings if one.works]
    rungs = [name.removeprefix(_CHESS) for name in works if name.startswith(_CHESS)]
    others = [name for name in works if not name.startswith(_CHESS)]
    lacks = [f"{one.name} ({one.detail})" for one in findings if not one.works]
    lines = [f"works: {_CHESS}{', '.join(rungs)}; {', '.join(others)}"]
    lines += [f"not here: {', '.join(lacks)}"] if lacks else []
    return "\n".join(textwrap.fill(line, 100, subsequent_indent="  ") for line in lines)


def print_summary_aside(say: Say = line) -> None:
    """Prints a summary from another process, which then unloads compiled code and MPI."""
    command = [sys.executable, "-P", "-m", "rungs_course", "doctor", "--brief"]
    stdout = subprocess.DEVNULL if say is silent else None
    done = run_program(command, COMPILING, stdout=stdout)
    if done.returncode:
        printed = done.stderr.splitlines()
        why = printed[-1] if printed else f"{' '.join(command[2:])} ended as {done.returncode}"
        raise UnavailableError(why.removeprefix("rungs: "))


def _examine_quickly() -> Iterator[Finding]:
    yield _tried("C++", _compiled, needed=True)
    yield _tried("cppyy", _cling)
    yield _tried("OpenMP", _openmp)
    for rung in rungs.rungs_of("chess"):
        yield _tried(f"{_CHESS}{rung.name}", partial(_play, rung.name), rung.name in _NEEDED)
    yield _tried("two MPI ranks", _ranks)
    yield _tried("g++", gpp.version)
    yield _tried("hardware counters", _counters)
    for tool in optional.TOOLS:
        yield _tried(tool.name, partial(_tool, tool))
    for extra, package in _EXTRAS.items():
        yield _tried(package, partial(_package, package, install_hint(extra)))
    for name, project in peers.PROJECTS.items():
        if project.extra:
            yield _tried(name, partial(_package, project.distribution, peers.how_to_get(name)))


def _tried(name: str, attempt: Callable[[], str], needed: bool = False) -> Finding:
    try:
        return Finding(name, True, needed, attempt())
    except RungsError as error:
        return Finding(name, False, needed, str(error).strip().splitlines()[0])
    except Exception as error:  # whatever is broken, the rest is tried
        return Finding(name, False, needed, repr(error).splitlines()[0])


def _compiled() -> str:
    compiler = loader.chosen()
    loader.load()
    if compiler == loader.WHEEL:
        return f"of this wheel, for {wheel.chosen().name}"
    return f"compiled from the headers by {compiler}"


def _cling() -> str:
    if not cling.interpreter().cppexec("int rungs_doctor = 42;"):
        raise CompilerError("Cling can't compile a statement")
    return f"{importlib.metadata.version('cppyy')} compiles C++"


def _compilers() -> str:
    """Plays the same games with the code of every installed compiler."""
    here = []
    for name in loader.COMPILERS:
        with contextlib.suppress(UnavailableError, CompilerError):
            loader.load(name)
            here.append(name)
    for env_id, settings in (("chess", {}), ("cartpole", {"dtype": "float32"})):
        make = partial(rungs.make, env_id, "cpp", 16, **settings)
        envs = {name: make(compiler=name) for name in here}
        verify_games(envs, seed=0, steps=_STEPS)
    return f"{_STEPS} steps, the same by {' and '.join(here)}"


def _openmp() -> str:
    return f"a team of {loader.load_openmp().rungs_openmp_team_size(usable_cores())} threads"


def _play(rung: ChessRung) -> str:
    """Plays random chess on a rung, and the same games on python-chess."""
    if rung == "cuda":
        gpu.require()  # before PyTorch is imported, which takes seconds
    env = rungs.make("chess", rung, 2)
    oracle = rungs.make("chess", "python", 2)
    with contextlib.closing(env), contextlib.closing(oracle):
        verify_games({"python": oracle, rung: env}, seed=0, steps=_STEPS)
    return f"{_STEPS} plies, as python-chess plays them"


def _balance(rung: Any) -> str:
    """Plays CartPole, pushed at random."""
    with contextlib.closing(rungs.make("cartpole", rung, 2)) as env:
        verify_games({rung: env}, seed=0, steps=_STEPS)  # with nothing to compare it with
    return f"{_STEPS} steps"


def _ranks() -> str:
    _package("mpi4py", install_hint("mpi"))
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        launch(2, "mpi4py.bench", ["helloworld"], module=True)
    return printed.getvalue().splitlines()[-1]


def _counters() -> str:
    try:
        return ", ".join(counters.count(lambda: sum(range(1000))))
    except UnavailableError as error:
        raise UnavailableError(f"{error} (virtual machines often have none)") from None


def _tool(tool: optional.Tool) -> str:
    path = find_program(tool.program)
    if not path:
        raise UnavailableError(f"for {tool.purpose}: {tool.to_get}")
    return path


def _package(package: str, to_get: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        raise UnavailableError(to_get) from None
