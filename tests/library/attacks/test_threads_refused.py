"""Threads that the system refuses: an error that says how many it gives, and Python goes on."""

import subprocess
import sys
import threading

import pytest

import rungs
from rungs._src.threads import openmp
from rungs.errors import UnavailableError

# What compiles runs before the limit, which leaves room for some threads and not for many.
SCRIPT = """
import pathlib, resource, threading
import rungs
from rungs.errors import UnavailableError

def refused(call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except UnavailableError as error:
        print(error)

envs = [rungs.make(name, "openmp", 4, threads=2) for name in ("chess", "cartpole")]
chess, cartpole = envs
actions = chess.reset()[1]["action_mask"].argmax(axis=1)
cartpole.reset()
large = rungs.make("chess", "openmp", 4096, threads=40)
many = large.reset()[1]["action_mask"].argmax(axis=1)
large.step(many)
large.reset()

used = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**30,) * 2)
for name in ("chess", "cartpole"):
    refused(rungs.make, name, "openmp", 4, threads=500)
chess.step(actions)
cartpole.step([0] * 4)
# A thread has a team of its own, for which there is no room.
thread = threading.Thread(target=refused, args=(large.step, many))
thread.start()
thread.join()
print(large.step(many)[1].shape)
"""


def test_more_threads_than_there_is_room_for():
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    *made, stepped, shape = done.stdout.splitlines()
    assert len(made) == 2
    for refusal in made:
        assert refusal.startswith("the system gives ")
        assert " of 500 threads" in refusal
        assert 1 <= int(refusal.split()[3]) < 500
    assert " of 40 threads" in stepped
    assert shape == "(4096,)"


class Refusing:
    """A system that gives four threads."""

    def __init__(self):
        self.asked = []

    def rungs_startable_threads(self, number, stack_bytes):
        self.asked.append(number)
        return min(number, 4)


def test_what_was_given_once_is_not_asked_for_again(monkeypatch):
    monkeypatch.setattr(openmp, "_had", threading.local())
    system = Refusing()
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


def test_the_system_is_counted_right():
    api = rungs.make("chess", "cpp", 1).boards.api
    assert api.rungs_startable_threads(3, 2**20) == 3
