"""The registry of environments and their rungs, and `make`, which makes one of them."""

import dataclasses
import functools
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

import gymnasium

from rungs._src.core.arguments import did_you_mean, shown
from rungs.errors import ConfigurationError, UnavailableError, install_hint

if TYPE_CHECKING:  # imported when they are needed
    import numpy as np
    import torch

    from rungs._src.cartpole.keywords import CartPoleKeywords, HostCartPoleRung
    from rungs._src.cartpole.vector_env import CartPoleVectorEnv
    from rungs._src.chess.async_env import AsyncChessEnv
    from rungs._src.chess.boards.cuda import CudaChessEnv
    from rungs._src.chess.keywords import ChessKeywords, HostChessRung
    from rungs._src.chess.vector_env import ChessVectorEnv


@dataclasses.dataclass(frozen=True)
class Rung:
    """One way to run an environment.

    Attributes:
        name: what `make` calls it.
        implementation: what it is, in words.
        makes: the class or function that makes what the environment owns, as "module:name";
            ".module:name" is below `rungs._src`.
        extra: the one of pyproject.toml that installs what it needs; "" where none is required.
        env: the class of the environment, as `makes`; "" where it is the one that most rungs share.
        needs: what it can't be made without: modules, the other names that `rungs._src.listing`
            can check, and functions that raise UnavailableError where something is missing.
    """

    name: Any  # `Any`, so that a listed name passes `make`'s `Literal`s
    implementation: str
    makes: str
    extra: str = ""
    env: str = ""
    needs: tuple[str | Callable[[], None], ...] = ()


_ENVS = {
    "chess": ".chess.vector_env:ChessVectorEnv",
    "cartpole": ".cartpole.vector_env:CartPoleVectorEnv",
}

# Every rung of the library, in the order of the ladder; `register_rung` adds others.
_RUNGS: dict[str, tuple[Rung, ...]] = {
    "chess": (
        Rung("python", "Python, python-chess", ".chess.boards.python:PythonBoards"),
        Rung(
            "multiprocessing",
            "Python, a process per core",
            ".chess.boards.multiprocessing:MultiprocessingBoards",
            env=".chess.boards.multiprocessing:MultiprocessingChessEnv",
        ),
        Rung("cpp", "C++, one thread", ".chess.boards.cpp:CppBoards", needs=("C++",)),
        Rung(
            "openmp",
            "C++, OpenMP threads",
            ".chess.boards.openmp:OpenmpBoards",
            "cling",
            needs=("OpenMP",),
        ),
        Rung(
            "threads",
            "C++, its own thread pool",
            ".chess.boards.threads:ThreadsBoards",
            needs=("C++",),
        ),
        Rung(
            "mpi",
            "C++, MPI ranks with OpenMP threads",
            ".chess.boards.mpi:make_mpi_boards",
            "mpi",
            ".chess.boards.mpi:MpiChessEnv",
            ("mpi4py", "MPI"),
        ),
        Rung(
            "cuda",
            "C++, a CUDA kernel",
            ".chess.boards.cuda:CudaBoards",
            "gpu",
            ".chess.boards.cuda:CudaChessEnv",
            ("torch", "cuda.core", "GPU", "C++"),
        ),
    ),
    "cartpole": (
        Rung(
            "torch",
            "PyTorch, batched",
            ".cartpole.carts.torch:TorchCarts",
            "train",
            needs=("torch",),
        ),
        Rung("cpp", "C++, one thread", ".cartpole.carts.cpp:CppCarts", needs=("C++",)),
        Rung(
            "openmp",
            "C++, OpenMP threads",
            ".cartpole.carts.cpp:OpenmpCarts",
            "cling",
            needs=("OpenMP",),
        ),
        Rung(
            "threads",
            "C++, its own thread pool",
            ".cartpole.carts.cpp:ThreadsCarts",
            needs=("C++",),
        ),
    ),
}

ENV_IDS = tuple(_RUNGS)
DEFAULT_RUNG = "threads"  # of both environments


def rungs_of(env_id: str) -> tuple[Rung, ...]:
    """Returns an environment's rungs, slowest first; a ConfigurationError if there is none."""
    if not isinstance(env_id, str) or env_id not in _RUNGS:
        raise ConfigurationError(
            f"no environment {shown(env_id)}{did_you_mean([env_id], _RUNGS)}; "
            f"there are: {', '.join(_RUNGS)}"
        )
    return _RUNGS[env_id]


def register_rung(env_id: str, rung: Rung, *, before: str | None = None) -> None:
    """Adds a rung of another package to an environment's ladder, for this process.

    Args:
        env_id: "chess" or "cartpole".
        rung: the rung; it replaces one of the same name.
        before: the name of the rung that follows it on the ladder; by default it is the last.

    Raises:
        ConfigurationError: there is no environment `env_id`, or no other rung `before`.
    """
    others = [other for other in rungs_of(env_id) if other.name != rung.name]
    names = [*(other.name for other in others), None]
    if before not in names:
        raise ConfigurationError(f"{env_id} has no other rung before={shown(before)}")
    place = names.index(before)
    _RUNGS[env_id] = (*others[:place], rung, *others[place:])


@overload
def make(
    env_id: Literal["chess"],
    rung: "HostChessRung" = ...,
    num_envs: int = ...,
    **settings: Unpack["ChessKeywords"],
) -> "ChessVectorEnv[np.ndarray]": ...


@overload
def make(
    env_id: Literal["chess"],
    rung: Literal["cuda"],
    num_envs: int = ...,
    **settings: Unpack["ChessKeywords"],
) -> "CudaChessEnv": ...


@overload
def make(
    env_id: Literal["cartpole"],
    rung: "HostCartPoleRung" = ...,
    num_envs: int = ...,
    **settings: Unpack["CartPoleKeywords"],
) -> "CartPoleVectorEnv[np.ndarray]": ...


@overload
def make(
    env_id: Literal["cartpole"],
    rung: Literal["torch"],
    num_envs: int = ...,
    **settings: Unpack["CartPoleKeywords"],
) -> "CartPoleVectorEnv[torch.Tensor]": ...


def make(env_id: str, rung: str = DEFAULT_RUNG, num_envs: int = 1, **settings: Any) -> Any:
    """Makes a vector environment: `make("chess", rung="cpp", num_envs=512, seed=0)`.

    Args:
        env_id: "chess" or "cartpole".
        rung: which implementation steps it; the outputs are the same on all. `register_rung` adds
            others.
        num_envs: number of boards, at least 1; by default 1, as for `gymnasium.make_vec`.
        **settings: the environment's own, see `rungs.chess.ChessSettings` and
            `rungs.cartpole.CartPoleSettings`, and the rung's, see its class. Type checkers and
            editors know them all (`rungs.chess.ChessKeywords`).

    Raises:
        ConfigurationError: an unknown environment or rung, or a wrong setting; the message names
            what may have been meant.
        UnavailableError: this machine or installation lacks what the rung needs: see `rungs.list`.
    """
    rungs = {candidate.name: candidate for candidate in rungs_of(env_id)}
    if not isinstance(rung, str) or rung not in rungs:
        raise ConfigurationError(
            f"{env_id} has no rung {shown(rung)}{did_you_mean([rung], rungs)}; "
            f"there are: {', '.join(rungs)}"
        )
    chosen = rungs[rung]
    try:
        owned = _imported(chosen.makes)
    except ImportError as error:
        if not chosen.extra:
            raise
        raise UnavailableError(
            f"{env_id} on {rung}: {error}: {install_hint(chosen.extra)}"
        ) from None
    return _imported(chosen.env or _ENVS[env_id])(num_envs, owned, **settings)


def _imported(name: str) -> Any:
    """Imports and returns the object "module:name", or ".module:name" below `rungs._src`."""
    module, name = name.split(":")
    return getattr(importlib.import_module(module, "rungs._src"), name)


# For `gymnasium.make_vec("rungs/Chess-v0", num_envs, rung="cpp")`, which finds them by name.
make_chess = functools.partial(make, "chess")
make_cartpole = functools.partial(make, "cartpole")


def _no_single_cartpole(**settings: Any) -> None:
    """Rejects `gymnasium.make("rungs/CartPole-v1")`: one alone is Gymnasium's own."""
    raise ConfigurationError(
        'rungs/CartPole-v1 is a batch: gymnasium.make_vec("rungs/CartPole-v1", num_envs); '
        'one alone is Gymnasium\'s: gymnasium.make("CartPole-v1")'
    )


def register() -> None:
    """Registers our environments for `gymnasium.make_vec`, and one game of chess for `make`."""
    gymnasium.register(
        "rungs/Chess-v0",
        entry_point="rungs.adapters.gymnasium:ChessEnv",
        vector_entry_point="rungs._src.registry:make_chess",
    )
    gymnasium.register(
        "rungs/CartPole-v1",
        entry_point="rungs._src.registry:_no_single_cartpole",
        vector_entry_point="rungs._src.registry:make_cartpole",
    )


def make_async(
    env_id: Literal["chess"], num_envs: int, **settings: Unpack["ChessKeywords"]
) -> "AsyncChessEnv":
    """Makes a `rungs.chess.AsyncChessEnv`, with `send` and `recv`; raises as `make` does."""
    if not isinstance(env_id, str) or env_id != "chess":
        raise ConfigurationError(f"no asynchronous environment {shown(env_id)}; there is: chess")
    from rungs._src.chess.async_env import AsyncChessEnv

    return AsyncChessEnv(num_envs, **settings)
