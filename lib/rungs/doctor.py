"""What works here, found out by trying it, and how to get what doesn't."""

import contextlib
import dataclasses
import importlib.metadata
import io
import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from rungs import aot, jit, mpi, peers, registry
from rungs.chess.policy import random_actions
from rungs.errors import RungsError, SamenessError, UnavailableError
from rungs.machine import counters, optional
from rungs.machine.cpu import usable_cores
from rungs.memory import on_host

_STEPS = 40

# What is in every installation; without it Rungs is broken.
_NEEDED = ("python", "multiprocessing", "gymnasium", "cpp", "openmp")

# A package that stands for each extra.
_EXTRAS = {
    "course": "jupyterlab",
    "book": "sphinx",
    "train": "torch",
    "gpu": "numba-cuda",
    "mpi": "mpi4py",
}


@dataclasses.dataclass(frozen=True)
class Finding:
    """What came of trying one thing.

    Attributes:
        what: the thing.
        works: whether it does.
        needed: whether it is in every installation, which is broken where it does not.
        detail: what was seen where it works; else why it doesn't, and how to get it.
    """

    what: str
    works: bool
    needed: bool
    detail: str


def examine() -> Iterator[Finding]:
    """Tries one thing after the other; some take seconds."""
    yield _tried("cppyy", _cling, needed=True)
    yield _tried("OpenMP", _openmp, needed=True)
    for env_id, try_rung in (("chess", _play), ("cartpole", _balance)):
        for rung in registry.rungs_of(env_id):
            needed = rung.name in _NEEDED
            yield _tried(f"{env_id} on {rung.name}", partial(try_rung, rung.name), needed)
    yield _tried("two MPI ranks", _ranks)
    yield _tried("g++", aot.version)
    yield _tried("hardware counters", _counters)
    for tool in optional.TOOLS:
        yield _tried(tool.name, partial(_tool, tool))
    for extra, package in _EXTRAS.items():
        yield _tried(package, partial(_package, package, extra))
    for peer, package in peers.DISTRIBUTIONS.items():
        yield _tried(peer, partial(_package, package, "peers"))


def _tried(what: str, attempt: Callable[[], str], needed: bool = False) -> Finding:
    try:
        return Finding(what, True, needed, attempt())
    except RungsError as error:
        return Finding(what, False, needed, str(error).strip().splitlines()[0])
    except Exception as error:  # whatever is broken, the rest is tried
        return Finding(what, False, needed, repr(error).splitlines()[0])


def _cling() -> str:
    start = time.perf_counter()
    jit.load()
    seconds = time.perf_counter() - start
    return f"{importlib.metadata.version('cppyy')} compiled the headers in {seconds:.1f} s"


def _openmp() -> str:
    return f"a team of {jit.load().rungs_openmp_team_size(usable_cores())} threads"


def _play(rung: str) -> str:
    """Random chess, beside python-chess."""
    ours = registry.make("chess", rung, 2)
    oracle = registry.make("chess", "python", 2)
    with contextlib.closing(ours), contextlib.closing(oracle):
        (_, info), _ = oracle.reset(seed=0), ours.reset(seed=0)
        rng = np.random.default_rng(0)
        for _ in range(_STEPS):
            actions = random_actions(info["action_mask"], rng)
            *outputs, seen = ours.step(actions)
            *expected, info = oracle.step(actions)
            outputs, expected = [*outputs, seen["action_mask"]], [*expected, info["action_mask"]]
            if not all(map(np.array_equal, map(on_host, outputs), expected)):
                raise SamenessError("plays other games than python-chess")
    return f"{_STEPS} plies, as python-chess plays them"


def _balance(rung: str) -> str:
    """CartPole, pushed at random."""
    env = registry.make("cartpole", rung, 2)
    with contextlib.closing(env):
        env.reset(seed=0)
        rng = np.random.default_rng(0)
        for _ in range(_STEPS):
            env.step(rng.integers(2, size=2))
    return f"{_STEPS} steps"


def _ranks() -> str:
    _package("mpi4py", "mpi")
    with contextlib.redirect_stdout(io.StringIO()) as said:
        mpi.launch(2, "mpi4py.bench", ["helloworld"], module=True)
    return said.getvalue().splitlines()[-1]


def _counters() -> str:
    try:
        return ", ".join(counters.count(lambda: sum(range(1000))))
    except UnavailableError as error:
        raise UnavailableError(f"{error} (virtual machines often have none)") from None


def _tool(tool: optional.Tool) -> str:
    path = optional.find(tool.program)
    if not path:
        raise UnavailableError(f"for {tool.purpose}: {tool.to_get}")
    return path


def _package(package: str, extra: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        raise UnavailableError(f"pip install 'rungs[{extra}]'") from None
