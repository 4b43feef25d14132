"""The device of a network, and the time of its computations."""

import time
from collections import defaultdict

import torch

from rungs._src.core.arguments import shown
from rungs.errors import ConfigurationError, UnavailableError


def checked_device(device: str | torch.device) -> torch.device:
    """Returns "cpu", "cuda", "cuda:0" and so on as a device, which must exist."""
    try:
        checked = torch.device(device) if isinstance(device, str | torch.device) else None
    except RuntimeError:
        checked = None
    if checked is None or checked.type not in ("cpu", "cuda"):
        raise ConfigurationError(f"device={shown(device)} is not 'cpu' or 'cuda'")
    if checked.type == "cuda" and not torch.cuda.is_available():
        raise UnavailableError("there is no CUDA device, or torch was built without CUDA")
    if checked.type == "cuda" and (checked.index or 0) >= torch.cuda.device_count():
        raise UnavailableError(
            f"there are {torch.cuda.device_count()} CUDA devices, and no {checked}"
        )
    return checked


class Stopwatch:
    """Adds up the `seconds` between laps by name, once a GPU has finished what it was given."""

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
