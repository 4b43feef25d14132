"""This machine: its processor, the cores that this process may use, and its OpenMP runtime."""

from rungs._src.machine.cpu import cpu_features, cpu_name, usable_cores
from rungs._src.machine.describe import describe
from rungs._src.threads.openmp import load as load_openmp

__all__ = ["cpu_features", "cpu_name", "describe", "load_openmp", "usable_cores"]
