"""Rungs: reinforcement-learning environments that are the same, bit for bit, on every rung."""

from rungs._src.listing import list
from rungs._src.registry import Rung, make, make_async, register, rungs_of
from rungs.version import __version__

__all__ = ["Rung", "__version__", "list", "make", "make_async", "rungs_of"]

register()
