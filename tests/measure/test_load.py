"""Another process that wants a core."""

import os
from pathlib import Path

from rungs.measure.load import busy_process


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
