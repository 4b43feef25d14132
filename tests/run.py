"""Runs pytest on all cores, and what fails once more, alone: `python -m tests.run [ARGUMENT...]`.

The arguments are pytest's. A test that passes the second time is printed as FLAKY and counts as
passed: it shows a busy machine, or a race to look for.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from rungs._src.machine.cpu import usable_cores

# More failures than these are no accident.
MOST_REPEATED = 20


class Failures:
    """Collects the tests that fail, here and in the processes of pytest-xdist."""

    def __init__(self):
        self.tests: list[str] = []

    def pytest_runtest_logreport(self, report):
        if report.failed and report.nodeid not in self.tests:
            self.tests.append(report.nodeid)


def main(arguments: list[str]) -> int:
    """Returns pytest's exit status, 0 where only flaky tests failed."""
    # Threads that wait for others leave their core to the process beside them.
    os.environ |= {"KMP_BLOCKTIME": "0", "OMP_WAIT_POLICY": "passive"}
    # A process more than there are cores, as some tests wait; each file in one, for its fixtures.
    split = ["--numprocesses", str(usable_cores() + 1), "--dist", "loadfile"]
    failures = Failures()
    options = [*split, "--no-loadscope-reorder", "-rfEs", *arguments]
    status = pytest.main(options, plugins=[failures])
    if status != pytest.ExitCode.TESTS_FAILED or len(failures.tests) > MOST_REPEATED:
        return int(status)
    print(f"\nOnce more, alone: {len(failures.tests)} failed", flush=True)
    failed = failed_alone(failures.tests)
    for test in failures.tests:
        print(f"{'FAILED' if test in failed else 'FLAKY'} {test}")
    return int(bool(failed))


def failed_alone(tests: list[str]) -> list[str]:
    """Runs tests in one process, as they share what is made once; returns those that fail."""
    with tempfile.TemporaryDirectory() as cache:
        alone = ["-p", "no:xdist", "-o", "addopts=--strict-markers", "-o", f"cache_dir={cache}"]
        status = subprocess.run([sys.executable, "-m", "pytest", "-q", *alone, *tests]).returncode
        if status == pytest.ExitCode.TESTS_FAILED:
            return list(json.loads(Path(cache, "v/cache/lastfailed").read_text()))
    return [] if status == pytest.ExitCode.OK else tests


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
