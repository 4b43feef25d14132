"""A machine with one core plays with eight threads."""

import sys

from tests.processes import succeed

CODE = """
import os
os.sched_setaffinity(0, {next(iter(os.sched_getaffinity(0)))})
import rungs
for rung in ("threads", "openmp"):
    env = rungs.make("chess", rung, 64, threads=8)
    env.reset(seed=0)
    env.step(env.sample_actions(0))
    env.close()
"""


def test_threads_step_on_one_core():
    succeed([sys.executable, "-c", CODE], timeout=120)
