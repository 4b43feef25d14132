"""Where the time goes, part by part."""

import time
from collections import defaultdict

import torch


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
