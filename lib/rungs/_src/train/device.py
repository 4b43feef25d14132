"""Where a network is computed."""

import torch

from rungs._src.core.arguments import shown
from rungs.errors import ConfigurationError, UnavailableError


def checked_device(device: str | torch.device) -> torch.device:
    """Returns a device that a network can be computed on.

    Args:
        device: "cpu", "cuda", or "cuda:0" and so on.

    Raises:
        ConfigurationError: it is another.
        UnavailableError: there is no such CUDA device, or PyTorch was built without CUDA.
    """
    try:
        found = torch.device(device) if isinstance(device, str | torch.device) else None
    except RuntimeError:
        found = None
    if found is None or found.type not in ("cpu", "cuda"):
        raise ConfigurationError(f"device={shown(device)} is not 'cpu' or 'cuda'")
    if found.type == "cuda" and not torch.cuda.is_available():
        raise UnavailableError("there is no CUDA device, or torch was built without CUDA")
    if found.type == "cuda" and (found.index or 0) >= torch.cuda.device_count():
        raise UnavailableError(
            f"there are {torch.cuda.device_count()} CUDA devices, and no {found}"
        )
    return found
