"""This machine: its processor, the cores that this process may use, and what to call it."""

from rungs._src.machine.cpu import cpu_features, cpu_name, usable_cores
from rungs._src.machine.describe import describe

__all__ = [
    "cpu_features",
    "cpu_name",
    "describe",
    "usable_cores",
]
