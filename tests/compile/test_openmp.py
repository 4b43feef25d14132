"""One OpenMP runtime for PyTorch and us."""

import subprocess
import sys

import pytest

SCRIPT = """
import os
import {first}
import {second}

def threads():
    return len(os.listdir("/proc/self/task"))

torch.set_num_threads(2)
torch.ones(1 << 22).exp()
before = threads()
env = rungs.make("chess", "openmp", 512, threads=2)
env.reset()
env.step([524] * 512)
print(threads() - before)
"""


FORKED = """
import os
import signal
import subprocess
import rungs

def step():
    signal.alarm(90)  # a child's own: who waits for ever ends
    env.step(env.sample_actions(0))

def forks(generations):
    for _ in range(2):
        child = os.fork() if generations else None
        if child == 0:
            step()
            forks(generations - 1)
            threads = len(os.listdir("/proc/self/task"))
            os._exit(0 if threads == 2 else 1)
        if child:
            assert os.waitpid(child, 0)[1] == 0
        subprocess.run(["true"], preexec_fn=step)
        step()

env = rungs.make("chess", "openmp", 512, threads=2)
env.reset(seed=0)
step()
forks(2)
"""


def test_a_process_and_its_children_fork_again_and_again_between_steps():
    subprocess.run([sys.executable, "-c", FORKED], check=True, timeout=100)


def run(first, second):
    script = SCRIPT.format(first=first, second=second)
    command = [sys.executable, "-W", "always", "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=True)


@pytest.mark.system
def test_steps_run_on_the_threads_of_pytorch():
    done = run("rungs", "torch")
    assert done.stdout == "0\n"
    assert "OversubscriptionWarning: torch" not in done.stderr


@pytest.mark.system
def test_two_runtimes_are_warned_of():
    done = run("torch", "rungs")
    assert int(done.stdout) > 0
    assert "torch was imported before rungs" in done.stderr


@pytest.mark.parametrize("variable", ["KMP_BLOCKTIME", "KMP_USE_YIELD"])
def test_how_threads_wait_is_up_to_the_user(variable):
    script = f"import os, rungs; print(os.environ[{variable!r}])"
    command = ["env", f"{variable}=0", sys.executable, "-c", script]
    assert subprocess.run(command, capture_output=True, text=True).stdout == "0\n"
