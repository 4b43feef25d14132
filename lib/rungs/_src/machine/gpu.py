"""The GPU of this machine."""

import functools

from rungs._src.programs import run_program
from rungs.errors import UnavailableError

_SECONDS = 60.0  # for the driver, which first initialises all cards


@functools.cache
def name() -> str | None:
    """Returns the first GPU's name, e.g. "NVIDIA H200"; None where NVIDIA's driver finds none."""
    command = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
    try:
        result = run_program(command, _SECONDS)
    except UnavailableError:
        return None
    return result.stdout.splitlines()[0] if result.stdout and not result.returncode else None


def require() -> None:
    """Raises UnavailableError where NVIDIA's driver finds no GPU."""
    if not name():
        raise UnavailableError("there is no NVIDIA GPU, or no driver: nvidia-smi finds none")


def usable() -> bool:
    """Returns whether there is a GPU that PyTorch can use."""
    if not name():
        return False
    import torch  # takes seconds

    return torch.cuda.is_available()
