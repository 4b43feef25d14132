"""CartPole's rungs that teach, which `register` adds to the library's."""

import os

import rungs
from rungs.devel import gpu


def simulated_if_absent() -> bool:
    """Makes Numba, before its import, simulate a GPU if there is none; returns whether it does."""
    if not gpu.usable():
        os.environ.setdefault("NUMBA_ENABLE_CUDASIM", "1")
    return _simulated()


def _simulated() -> bool:
    return os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"


def _require_gpu() -> None:
    """Raises UnavailableError where there is neither an NVIDIA GPU nor Numba's simulator of one."""
    if not _simulated():
        gpu.require()


def register() -> None:
    """Adds `gymnasium` and `numba` to the rungs that `rungs.make("cartpole")` knows."""
    here = "rungs_course.cartpole"
    gymnasium = rungs.Rung("gymnasium", "Python, Gymnasium", f"{here}.gymnasium:GymnasiumCarts")
    numba = rungs.Rung(
        "numba",
        "Numba, a CUDA kernel",
        f"{here}.numba:NumbaCarts",
        extra="gpu",
        needs=("torch", "numba_cuda", _require_gpu),
    )
    rungs.register_rung("cartpole", gymnasium, before="torch")
    rungs.register_rung("cartpole", numba, before="cpp")
