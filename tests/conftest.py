"""What holds for all tests."""

import os
import signal

import hypothesis

from rungs._src.machine import gpu

gpu.simulated_if_absent()

# This process and all that tests start load what g++ has compiled once. Cling compiles in every
# process, which takes 20 s of a core: tests of Cling ask for it.
os.environ.setdefault("RUNGS_COMPILER", "g++")

# A shell makes processes in the background ignore Ctrl-C; tests press it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Ray would join the last cluster that was started on this machine, another test's or a killed one.
os.environ["RAY_ADDRESS"] = "local"

# The first example of a test may compile C++, which must not fail it.
hypothesis.settings.register_profile("rungs", deadline=None)
hypothesis.settings.load_profile("rungs")


def pytest_collection_modifyitems(items):
    """Starts with the course and PyTorch's ranks: they take longest, and would end on one core."""
    items.sort(
        key=lambda item: "smoke" not in item.fixturenames and item.path.name != "test_ranks.py"
    )
