"""One OpenMP runtime for PyTorch and us."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import os
{first}
{second}

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


# What is compiled may be loaded before OpenMP is asked for.
FORKED = """
import os
import subprocess
import rungs

rungs.make("chess", "cpp", 1)
env = rungs.make("chess", "openmp", 512, threads=2)
env.reset(seed=0)
for _ in range(3):
    env.step(env.sample_actions(0))
    child = os.fork()
    if not child:
        env.step(env.sample_actions(0))
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    env.step(env.sample_actions(0))
    subprocess.run(["true"], preexec_fn=int, check=True)
"""


# What scikit-learn's import does.
RULED_OUT = """
import os, sys, types
sys.modules["sklearn"] = types.ModuleType("sklearn")
os.environ.setdefault("KMP_INIT_AT_FORK", "FALSE")
"""


@pytest.mark.parametrize(
    ("compiler", "before"), [("g++", ""), ("g++", RULED_OUT), ("cling", RULED_OUT)]
)
def test_a_process_forks_again_and_again_between_steps(compiler, before):
    command = [sys.executable, "-c", before + FORKED]
    env = os.environ | {"RUNGS_COMPILER": compiler}
    subprocess.run(command, check=True, timeout=300, env=env)


REFUSED = """
import os
import rungs
from rungs.errors import UnavailableError

def make():
    envs = {rung: rungs.make("chess", rung, 512, threads=2) for rung in ("openmp", "threads")}
    for env in envs.values():
        env.reset(seed=0)
    return envs

if not os.fork():  # before any thread of OpenMP's
    make()
    os._exit(0)
assert os.wait()[1] == 0
envs = make()
if not os.fork():
    try:
        envs["openmp"].step([524] * 512)
    except UnavailableError:
        envs["threads"].step([524] * 512)
        os._exit(7)
assert os.waitstatus_to_exitcode(os.wait()[1]) == 7
for env in envs.values():
    env.step([524] * 512)
"""


def test_a_forked_child_without_threads_raises():
    env = os.environ | {"KMP_INIT_AT_FORK": "FALSE"}
    subprocess.run([sys.executable, "-c", REFUSED], check=True, timeout=100, env=env)


def run(first, second):
    script = SCRIPT.format(first=first, second=second)
    command = [sys.executable, "-W", "always", "-c", script]
    env = os.environ | {"RUNGS_COMPILER": "cling"}  # g++'s code takes the runtime that is there
    return subprocess.run(command, capture_output=True, text=True, check=True, env=env)


@pytest.mark.system
def test_steps_run_on_the_threads_of_pytorch():
    done = run("from rungs._src.threads import openmp; openmp.load()", "import rungs, torch")
    assert done.stdout == "0\n"
    assert "OversubscriptionWarning: PyTorch" not in done.stderr


@pytest.mark.system
def test_two_runtimes_warn():
    done = run("import torch", "import rungs")
    assert int(done.stdout) > 0
    assert "OversubscriptionWarning: PyTorch's OpenMP runtime was loaded before ours" in done.stderr


@pytest.mark.parametrize("variable", ["KMP_BLOCKTIME", "KMP_USE_YIELD", "KMP_INIT_AT_FORK"])
def test_what_the_user_says_of_threads_stands(variable):
    load = "import os; from rungs._src.threads import openmp; openmp.load()"
    script = f"{load}; print(os.environ[{variable!r}])"
    command = ["env", f"{variable}=0", sys.executable, "-c", script]
    assert subprocess.run(command, capture_output=True, text=True).stdout == "0\n"
