"""What holds for all tests."""

import functools
import gc
import os
import re
import signal
import sys

import hypothesis
import pytest

from rungs._src import provenance
from rungs._src.machine import gpu

gpu.simulated_if_absent()

# This process and all that tests start load what g++ has compiled once. Cling compiles in every
# process, which takes 20 s of a core: tests of Cling ask for it.
os.environ.setdefault("RUNGS_COMPILER", "g++")

# The commit of a folder stays while tests run; they save hundreds of tables.
provenance._git = functools.cache(provenance._git)

# What reads notebooks imports it, if it can: then it makes a parser of web addresses beyond ASCII,
# which takes 2.5 s of a core in each process that tests run in. No notebook has such an address.
sys.modules["rfc3987_syntax"] = None

# A shell makes processes in the background ignore Ctrl-C; tests press it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Ray would join the last cluster that was started on this machine, another test's or a killed one.
os.environ["RAY_ADDRESS"] = "local"

# The first example of a test may compile C++, which must not fail it.
hypothesis.settings.register_profile("rungs", deadline=None)
hypothesis.settings.load_profile("rungs")


# Files of which some tests compile all of the headers by Cling in the tests' own process.
BY_CLING = ("test_abi.py", "test_cling.py", "test_doctor.py", "test_gpp.py", "test_loader.py")


def pytest_ignore_collect(collection_path, config):
    """Leaves out files that are wholly of a tier which is not run: their imports take seconds."""
    if "not system" in config.option.markexpr and collection_path.suffix == ".py":
        return re.search(r"^pytestmark = .*\bsystem\b", collection_path.read_text(), re.M) and True


def pytest_collection_modifyitems(items):
    """Starts with the files that take longest, which would end on one core.

    These are the course, what is compiled for other machines and with sanitizers, installations,
    PyTorch's ranks, browsers, labs, pages and suites.
    """
    longest = ("test_package.py", "test_wheels.py", "test_cpp.py")
    longest += ("test_ranks.py", "test_browser.py", "test_labs.py")
    longest += ("test_docs.py", "test_run.py", "test_differential.py")
    items.sort(key=lambda item: "smoke" not in item.fixturenames and item.path.name not in longest)


def pytest_collection_finish(session):
    """Lets no garbage collection look again at modules and collected tests, which stay."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Gives each file to one process, and all that needs Cling to the same one."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file = super()._split_scope(nodeid)
            return "by Cling" if file.endswith(BY_CLING) else file

    return Scheduling(config, log)
