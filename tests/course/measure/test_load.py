"""Another process that wants a core."""

import os
import subprocess
import sys
import time
from pathlib import Path

from rungs_course.measure.load import busy_process

STARTS_ONE = """
import os, time
from pathlib import Path
from rungs_course.measure.load import busy_process
with busy_process():
    print(Path(f"/proc/self/task/{os.getpid()}/children").read_text(), flush=True)
    time.sleep(60)
"""


def children():
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


def test_a_busy_process_stays_on_its_core_and_ends_with_the_block():
    before, core = children(), max(os.sched_getaffinity(0))
    with busy_process(core):
        (process,) = map(int, children() - before)
        assert os.sched_getaffinity(process) == {core}
        with busy_process():
            assert len(children() - before) == 2
    assert children() == before


def test_a_busy_process_ends_with_who_started_it():
    with subprocess.Popen([sys.executable, "-c", STARTS_ONE], stdout=subprocess.PIPE) as starter:
        busy = Path("/proc", starter.stdout.readline().decode().strip())
        assert busy.exists()
        starter.kill()
    deadline = time.monotonic() + 60
    while busy.exists() and "zombie" not in (busy / "status").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.01)
