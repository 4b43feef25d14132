"""What holds for all tests."""

import functools
import gc
import os
import re
import signal

import hypothesis
import pytest

import rungs_course  # noqa: F401  # before nbformat, whose import it makes short
from rungs._src import provenance
from rungs._src.programs import find_program
from rungs_course import cartpole
from tests import areas

cartpole.simulated_if_absent()
cartpole.register()

# The commit of a folder stays while tests run; they save hundreds of tables.
provenance._git = functools.cache(provenance._git)

# A shell makes processes in the background ignore Ctrl-C; tests press it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Ray would join the last cluster that was started on this machine, another test's or a killed one.
os.environ["RAY_ADDRESS"] = "local"

# The first example of a test may compile C++, which must not fail it.
hypothesis.settings.register_profile("rungs", deadline=None)
hypothesis.settings.load_profile("rungs")

# Files that share what is made once per process, and so are given to one.
GROUPS = {
    "by Cling": ("test_abi.py", "test_cling.py", "test_doctor.py", "test_loader.py"),
    "servers and browser": (
        "test_browser.py", "test_browser_pages.py", "test_play.py", "test_servers.py",
    ),
}  # fmt: skip


def pytest_addoption(parser):
    parser.addoption(
        "--since",
        metavar="COMMIT",
        help="of the system tier, run only what the changes since then can have broken",
    )


def pytest_ignore_collect(collection_path, config):
    """Leaves out files that are wholly of a tier which is not run: their imports take seconds."""
    if "not system" in config.option.markexpr and collection_path.suffix == ".py":
        first = re.compile(r"^pytestmark = \[?\s*pytest\.mark\.system\b", re.MULTILINE)
        return first.search(collection_path.read_text()) and True


def pytest_collection_modifyitems(config, items):
    """Leaves out the areas that have not changed, and starts with the files that take longest."""
    since = config.getoption("--since")
    selected = areas.tests_of(areas.changed_since(since)) if since else None
    if selected is not None:
        unchanged = [
            item
            for item in items
            if item.get_closest_marker("system")
            and not areas.is_selected(item.nodeid.partition("::")[0], selected)
        ]
        config.hook.pytest_deselected(items=unchanged)
        items[:] = [item for item in items if item not in unchanged]
    longest = ("test_package.py", "test_wheels.py", "test_cpp.py")
    longest += ("test_ranks.py", "test_browser.py", "test_labs.py")
    longest += ("test_docs.py", "test_run.py", "test_differential.py")
    items.sort(key=lambda item: "smoke" not in item.fixturenames and item.path.name not in longest)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Skips a test of a program that is not here; where `make tools` was run, that is a failure."""
    for marker in item.iter_markers("needs"):
        missing = [program for program in marker.args if not find_program(program)]
        if missing and os.environ.get("RUNGS_REQUIRE_TOOLS"):
            pytest.fail(f"{missing[0]} is not here, which `make tools` installs")
        elif missing:
            pytest.skip(f"needs {missing[0]}, which `make tools` installs")
        elif "bwrap" in marker.args:
            from rungs_course.labs.sandbox import Sandbox  # where the course is installed

            if problem := Sandbox().problem():
                pytest.skip(problem)  # a container may forbid what it does
        elif "valgrind" in marker.args:
            from rungs_course.measure.valgrind import have_valgrind

            if not have_valgrind():
                pytest.skip("valgrind needs a processor with AVX2 here")


def pytest_collection_finish(session):
    """Lets no garbage collection look again at modules and collected tests, which stay."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Gives each file to one process, and each of `GROUPS`."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file = super()._split_scope(nodeid)
            return next((group for group, ends in GROUPS.items() if file.endswith(ends)), file)

    return Scheduling(config, log)
