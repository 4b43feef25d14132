"""Where a network is computed, and how long that takes."""

import time
from collections import defaultdict

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


class Stopwatch:
    """Adds up the seconds between laps, by name.

    Args:
        device: what to wait for before the clock is read: a GPU works on after a call returns.

    Attributes:
        seconds: so far, by name.
    """

    def __init__(self, device: torch.device):
        self._device = device
        self.seconds: dict[str, float] = defaultdict(float)
        self._last = self._now()

    def lap(self, part: str) -> None:
        """Counts the time since the last lap as that of `part`."""
        now = self._now()
        self.seconds[part] += now - self._last
        self._last = now

    def _now(self) -> float:
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
        return time.perf_counter()
