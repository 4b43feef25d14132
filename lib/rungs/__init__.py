"""Rungs: reinforcement-learning environments that are the same, bit for bit, on every rung."""

from rungs import omp
from rungs.registry import make, make_async, register, rungs_of

__all__ = ["make", "make_async", "rungs_of"]

omp.load()
register()
