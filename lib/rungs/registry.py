"""The factory: every environment and the rungs it climbs, in the order of the ladder."""

import dataclasses
import importlib

import gymnasium

from rungs.errors import ConfigurationError, UnavailableError


@dataclasses.dataclass(frozen=True)
class Rung:
    """One way to run an environment.

    Attributes:
        name: what `make` calls it.
        implementation: what it is, in words.
        makes: the class that `make` calls, as "module:name" below `rungs`: of chess what its
            environment's boards are, of CartPole the environment.
        extra: of `pip install 'rungs[...]'`, where it needs one to be imported.
    """

    name: str
    implementation: str
    makes: str
    extra: str = ""


_RUNGS = {
    "chess": (
        Rung("python", "Python, python-chess", "chess.boards.python:PythonBoards"),
        Rung(
            "multiprocessing",
            "Python, a process per core",
            "chess.boards.multiprocessing:MultiprocessingBoards",
        ),
        Rung("cpp", "C++, one thread", "chess.boards.cpp:CppBoards"),
        Rung("openmp", "C++, OpenMP threads", "chess.boards.openmp:OpenmpBoards"),
        Rung("mpi", "C++, MPI ranks with OpenMP threads", "chess.boards.mpi:MpiBoards"),
        Rung("cuda", "C++, a CUDA kernel", "chess.boards.cuda:CudaBoards", "gpu"),
    ),
    "cartpole": (
        Rung("gymnasium", "Python, Gymnasium", "cartpole.gymnasium:GymnasiumCartPoleEnv"),
        Rung("subproc", "Python, a process each", "cartpole.subproc:SubprocCartPoleEnv"),
        Rung("torch", "PyTorch, batched", "cartpole.torch:TorchCartPoleEnv", "train"),
        Rung("numba", "Numba, a CUDA kernel", "cartpole.numba:NumbaCartPoleEnv", "gpu"),
        Rung("cpp", "C++, one thread", "cartpole.cpp:CppCartPoleEnv"),
        Rung("openmp", "C++, OpenMP threads", "cartpole.openmp:OpenmpCartPoleEnv"),
    ),
}


def rungs_of(env_id: str) -> tuple[Rung, ...]:
    """The rungs of an environment, in the order of the ladder.

    Raises:
        ConfigurationError: there is no environment `env_id`.
    """
    if env_id not in _RUNGS:
        raise ConfigurationError(f"no environment {env_id!r}; there are: {', '.join(_RUNGS)}")
    return _RUNGS[env_id]


def make(env_id: str, rung: str, num_envs: int, **settings):
    """Makes a vector environment: `make("chess", rung="cpp", num_envs=512, seed=0)`.

    Args:
        env_id: "chess" or "cartpole".
        rung: which implementation steps it; the outputs are the same on all.
        num_envs: number of boards, at least 1.
        **settings: the environment's own, see `rungs.chess.vector_env.ChessVectorEnv` and
            `rungs.cartpole.vector_env.CartPoleVectorEnv`, and the rung's, see its class.

    Raises:
        ConfigurationError: an unknown environment or rung, or a wrong setting.
        UnavailableError: this machine or installation lacks what the rung needs.
    """
    rungs = {candidate.name: candidate for candidate in rungs_of(env_id)}
    if rung not in rungs:
        raise ConfigurationError(f"{env_id} has no rung {rung!r}; there are: {', '.join(rungs)}")
    made = _imported(env_id, rungs[rung])
    if env_id == "cartpole":
        return made(num_envs, **settings)
    from rungs.chess.vector_env import ChessVectorEnv

    return ChessVectorEnv(num_envs, made, **settings)


def _imported(env_id: str, rung: Rung):
    module, name = rung.makes.split(":")
    try:
        return getattr(importlib.import_module(f"rungs.{module}"), name)
    except ImportError as error:
        if not rung.extra:
            raise
        raise UnavailableError(
            f"{env_id} on {rung.name}: {error}: pip install 'rungs[{rung.extra}]'"
        ) from None


def make_chess(num_envs: int, rung: str = "openmp", **settings):
    """What `gymnasium.make_vec("rungs/Chess-v0", num_envs, rung="cpp")` calls; see `make`.

    Raises:
        ConfigurationError: as `make`.
    """
    return make("chess", rung, num_envs, **settings)


def make_cartpole(num_envs: int, rung: str = "openmp", **settings):
    """What `gymnasium.make_vec("rungs/CartPole-v1", num_envs)` calls; see `make`.

    Raises:
        ConfigurationError: as `make`.
    """
    return make("cartpole", rung, num_envs, **settings)


def register() -> None:
    """Makes our environments known to `gymnasium.make_vec`."""
    gymnasium.register("rungs/Chess-v0", vector_entry_point="rungs.registry:make_chess")
    gymnasium.register("rungs/CartPole-v1", vector_entry_point="rungs.registry:make_cartpole")


def make_async(env_id: str, num_envs: int, **settings):
    """Makes an environment with `send` and `recv`: see `rungs.chess.async_env.AsyncChessEnv`.

    Raises:
        ConfigurationError: an unknown environment or a wrong setting.
    """
    if env_id != "chess":
        raise ConfigurationError(f"no asynchronous environment {env_id!r}; there is: chess")
    from rungs.chess.async_env import AsyncChessEnv

    return AsyncChessEnv(num_envs, **settings)
