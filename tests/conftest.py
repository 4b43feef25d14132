"""Settings of all tests."""

import os
import signal

import hypothesis

import rungs  # noqa: F401 (before PyTorch, whose OpenMP runtime would be in the way of ours)
from rungs.machine import gpu

# Before anything imports Numba: without a GPU, its simulator runs the kernels.
if not gpu.name():
    os.environ.setdefault("NUMBA_ENABLE_CUDASIM", "1")

# A shell has what it starts in the background ignore Ctrl-C; tests press it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The first example of a test may compile C++; that is no reason to fail it.
hypothesis.settings.register_profile("rungs", deadline=None)
hypothesis.settings.load_profile("rungs")
