"""PyTorch's OpenMP threads, as helpers of the rung `threads`.

After a loop of PyTorch they spin for milliseconds on the cores that a pool's threads would have to
be woken on. C++ tries both, and uses what takes less time: see `cpp/rungs/payoff.hpp`.
"""

import ctypes
import sys
from collections.abc import Callable
from typing import Any

from rungs._src.native.abi import Api, described
from rungs._src.threads import openmp
from rungs.errors import UnavailableError

_NONE = 0, 0


class Team:
    """PyTorch's threads, of which at most `threads` pay off, for the loop `step` of a library.

    `load` loads the library, or returns None where it is compiled for another OpenMP runtime.
    """

    def __init__(self, load: Callable[[], Api | None], step: str, threads: int):
        self._load: Callable[[], Api | None] | None = load  # None: it was called
        self._api: Api | None = None
        self._step, self._threads = step, threads

    def arguments(self) -> tuple[int, int]:
        """Returns the addresses of the loop and of its settings; zeros where there is no team.

        It has as many threads as PyTorch's own loops: GCC's runtime would end and start some
        whenever the number changes.
        """
        torch: Any = sys.modules.get("torch")
        number = torch.get_num_threads() if hasattr(torch, "get_num_threads") else 1
        if not 1 < number <= self._threads:
            return _NONE
        if self._load:
            self._find(self._load)
        if self._api is None:
            return _NONE
        try:
            self._settings.threads = openmp.team(self._api, number)
        except UnavailableError:
            return _NONE
        return self._addresses

    def _find(self, load: Callable[[], Api | None]) -> None:
        self._load = None
        if openmp.library(openmp.GCC) and (api := load()):
            description = described(api)
            self._settings = description.structures["LoopSettings"](
                threads=self._threads, schedule="STATIC", chunk=0
            )
            settings = ctypes.addressof(self._settings)
            self._addresses = description.addresses[self._step], settings
            self._api = api
