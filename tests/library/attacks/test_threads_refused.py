"""Threads that the system refuses: an error that says how many it gives, and Python goes on."""

import subprocess
import sys
import threading

import pytest

import rungs
from rungs._src.threads import openmp
from rungs.errors import UnavailableError

# Room for some threads, but not for many; what is compiled is compiled before.
SCRIPT = """
import pathlib, resource, threading, warnings
warnings.simplefilter("ignore")
import rungs
from rungs.errors import UnavailableError

def refused(call, *arguments, **settings):
    try:
        call(*arguments, **settings)
    except UnavailableError as error:
        print(error)

{before}
used = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**30,) * 2)
{after}
print("alive")
"""

WARM = """
small = rungs.make("{0}", "openmp", 4, threads=2)
small.reset()
"""


def lines(before, after):
    script = SCRIPT.format(before=before, after=after)
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    *refusals, alive = done.stdout.splitlines()
    assert alive == "alive"
    return refusals


@pytest.mark.parametrize("env", ["chess", "cartpole"])
def test_more_threads_than_there_is_room_for(env):
    make = f'refused(rungs.make, "{env}", "openmp", 4, threads=500)\nsmall.step(small.actions)'
    (refusal,) = lines(WARM.format(env) + f"small.actions = {ACTIONS[env]}", make)
    assert refusal.startswith("the system gives ")
    assert " of 500 threads" in refusal
    assert 1 <= int(refusal.split()[3]) < 500


ACTIONS = {
    "chess": "[int(mask.argmax()) for mask in small.reset()[1]['action_mask']]",
    "cartpole": "[0] * 4",
}


def test_another_thread_that_steps_is_refused_a_team_of_its_own():
    before = """
env = rungs.make("chess", "openmp", 4096, threads=40)
_, info = env.reset()
actions = info["action_mask"].argmax(axis=1)
env.step(actions)
env.reset()
"""
    after = """
thread = threading.Thread(target=refused, args=(env.step, actions))
thread.start()
thread.join()
print(env.step(actions)[1].shape)
"""
    refusal, shape = lines(before, after)
    assert " of 40 threads" in refusal
    assert shape == "(4096,)"


class Refusing:
    """A system that gives so many threads."""

    def __init__(self, gives):
        self.gives, self.asked = gives, []

    def rungs_startable_threads(self, number, stack_bytes):
        self.asked.append(number)
        return min(number, self.gives)


def test_what_was_given_once_is_not_asked_for_again(monkeypatch):
    monkeypatch.setattr(openmp, "_had", threading.local())
    system = Refusing(4)
    for number in (1, 3, 2, 3):
        openmp.require_threads(system, number)
    assert system.asked == [3]
    for _ in range(2):
        with pytest.raises(UnavailableError, match="gives 4 of 5 threads"):
            openmp.require_threads(system, 5)
    thread = threading.Thread(target=openmp.require_threads, args=(system, 3))
    thread.start()
    thread.join()
    assert system.asked == [3, 5, 5, 3]


@pytest.mark.system
def test_peaks_are_measured_with_threads_that_there_are():
    before = "from rungs_course.measure.peaks import measure_compute\n" + WARM.format("chess")
    before += "measure_compute([1], repeats=1, seconds=0.001)"
    after = "refused(measure_compute, [500], repeats=1, seconds=0.001)"
    (refusal,) = lines(before, after)
    assert " of 500 threads" in refusal


def test_the_system_is_counted_right():
    api = rungs.make("chess", "cpp", 1).boards.api
    assert api.rungs_startable_threads(3, 2**20) == 3
