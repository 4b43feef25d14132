"""Settings of all tests."""

import os
import signal

import hypothesis

import rungs  # noqa: F401 (before PyTorch, whose OpenMP runtime would be in the way of ours)
from rungs._src.machine import gpu

gpu.simulated_if_absent()

# A shell has what it starts in the background ignore Ctrl-C; tests press it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Ray would join the last cluster that was started on this machine, be it another test's or killed.
os.environ["RAY_ADDRESS"] = "local"

# The first example of a test may compile C++; that is no reason to fail it.
hypothesis.settings.register_profile("rungs", deadline=None)
hypothesis.settings.load_profile("rungs")


def pytest_collection_modifyitems(items):
    """Begins with the run of the course, and with the ranks of PyTorch.

    They take longest, and at the end of all tests one core would wait for the other's.
    """
    items.sort(
        key=lambda item: "smoke" not in item.fixturenames and item.path.name != "test_ranks.py"
    )
