"""OpenMP: one runtime with PyTorch, through forks, and threads that the system refuses."""

import os
import re
import subprocess
import sys

import pytest

import rungs
from tests.tiers import system_tier

# How many threads a step adds to PyTorch's, and whose the runtime is that code of g++ calls.
SCRIPT = """
import os
{first}
{second}
from rungs._src.threads import openmp

def threads():
    return len(os.listdir("/proc/self/task"))

torch.set_num_threads(2)
torch.ones(1 << 22).exp()
before = threads()
env = rungs.make("chess", "openmp", 512, threads=2)
env.reset()
env.step([524] * 512)
print(threads() - before, "torch" in openmp.library(openmp.GCC)._name)
"""

# What is compiled may be loaded before OpenMP is asked for.
FORKED = """
import os
import signal
import subprocess
import rungs

rungs.make("chess", "cpp", 1)
env = rungs.make("chess", "openmp", 512, threads=2)
env.reset(seed=0)
for _ in range(3):
    env.step(env.sample_actions(0))
    child = os.fork()
    if not child:
        signal.alarm(60)  # ends a child that waits for threads that it hasn't
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

# PyTorch is there first, and has had a team of its own.
TORCH_FIRST = "import torch; torch.set_num_threads(2); torch.ones(1 << 22).exp()"

# Where intel-openmp isn't installed.
NO_INTELS = """
import importlib.metadata as metadata
distribution = metadata.distribution
def without_intels(name):
    if name == "intel-openmp":
        raise metadata.PackageNotFoundError(name)
    return distribution(name)
metadata.distribution = without_intels
"""


def run(script, **environment):
    """Runs a script in a process of its own, in which OpenMP has not begun."""
    command = [sys.executable, "-W", "always", "-c", script]
    options = {"capture_output": True, "text": True, "timeout": 300}
    done = subprocess.run(command, env=os.environ | environment, **options)
    assert done.returncode == 0, done.stderr[-2000:]
    return done


FORKING = [("g++", ""), ("g++", RULED_OUT), ("g++", NO_INTELS)]
FORKING += system_tier(("g++", TORCH_FIRST))
FORKING += system_tier(("cling", RULED_OUT), release=True)


@pytest.mark.parametrize(("compiler", "before"), FORKING)
def test_a_process_forks_again_and_again_between_steps(compiler, before):
    run(before + FORKED, RUNGS_COMPILER=compiler)


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
    run(REFUSED, KMP_INIT_AT_FORK="FALSE")


LOADED_FIRST = "from rungs._src.threads import openmp; openmp.load()"


# What is imported in which order, and what a step's threads and runtime then are.
BESIDE_PYTORCH = [
    *system_tier(
        ("g++", "import torch", "import rungs", "0 True"),
        ("g++", NO_INTELS, "import torch, rungs", "0 True"),
        ("g++", LOADED_FIRST, "import rungs, torch", "0 False"),
        ("cling", "import torch", "import rungs", r"[1-9]\d* True"),  # Clang's runtime, too
    ),
    *system_tier(("cling", LOADED_FIRST, "import rungs, torch", "0 False"), release=True),
]


@pytest.mark.parametrize(("compiler", "first", "second", "printed"), BESIDE_PYTORCH)
def test_steps_run_on_the_threads_of_pytorch_or_two_runtimes_warn(compiler, first, second, printed):
    done = run(SCRIPT.format(first=first, second=second), RUNGS_COMPILER=compiler)
    assert re.fullmatch(f"{printed}\n", done.stdout)
    warned = "OversubscriptionWarning: PyTorch" in done.stderr
    assert warned == (not printed.startswith("0"))


def test_without_intels_runtime_code_of_gpp_takes_gccs_and_clings_is_refused():
    script = """
from rungs._src.threads import openmp
import rungs
rungs.make("chess", "openmp", 512, threads=2, compiler="g++").reset()
print(openmp.library(openmp.GCC)._name, openmp.library(openmp.CLANG))
try:
    rungs.make("chess", "openmp", 1, compiler="cling")
except rungs.errors.UnavailableError as error:
    print(error)
"""
    loaded, refusal = run(NO_INTELS + script).stdout.splitlines()
    assert re.fullmatch(r"\S*libgomp\S* None", loaded)
    assert "OpenMP" in refusal


def test_what_the_user_says_of_threads_stands():
    said = dict.fromkeys(("KMP_BLOCKTIME", "KMP_USE_YIELD", "KMP_INIT_AT_FORK"), "0")
    load = "import os; from rungs._src.threads import openmp; openmp.load()"
    shown = run(f"{load}; print(*(os.environ[name] for name in {[*said]}))", **said).stdout
    assert shown == "0 0 0\n"


def test_importing_rungs_and_its_commands_loads_no_runtime_and_no_large_package():
    script = """
import sys
import rungs._src.cli, rungs.devel.cli, rungs.devel.envs
mapped = [line.split("/")[-1] for line in open("/proc/self/maps") if "/" in line]
print([name for name in mapped if name.startswith(("libgomp", "libiomp", "libomp"))])
print({"torch", "pandas", "matplotlib", "numba", "cppyy"} & sys.modules.keys())
"""
    assert run(script).stdout == "[]\nset()\n"


LIMITED = """
import os, pathlib, resource, threading
import numpy as np
import rungs
from rungs._src.machine import cpu
from rungs.errors import UnavailableError

def limit(room):
    used = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + room,) * 2)

def elsewhere(function, *args):
    thread = threading.Thread(target=function, args=args)
    thread.start()
    thread.join()
"""

# What compiles runs before the limit, which leaves room for some threads and not for many.
MORE_THREADS = """
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

limit(2**30)
for name in ("chess", "cartpole"):
    refused(rungs.make, name, "openmp", 4, threads=500)
chess.step(actions)
cartpole.step([0] * 4)
# A thread has a team of its own, for which there is no room.
elsewhere(refused, large.step, many)
print(large.step(many)[1].shape)
"""


def test_more_threads_than_there_is_room_for():
    *made, stepped, shape = run(LIMITED + MORE_THREADS).stdout.splitlines()
    assert len(made) == 2
    for refusal in made:
        given, asked = map(int, re.findall(r"\d+", refusal)[:2])
        assert 1 <= given < asked == 500
    assert " of 40 threads" in stepped
    assert shape == "(4096,)"


# By default as many threads play as there are, in whatever thread; what was asked for is refused.
FEWER = """
limits, env_id, rung = (os.environ[f"TEST_{name}"] for name in ("LIMITS", "ENV", "RUNG"))
cores, boards = 40, {"chess": 5120, "cartpole": 200_000}[env_id]
os.sched_getaffinity = lambda process: set(range(cores))
cpu._GROUPS = pathlib.Path("/missing")
rungs.make("chess", "threads", 128, threads=1)  # compiled without limits

def make(**threads):
    return rungs.make(env_id, rung, boards, **threads)

def play(env):
    reference = make(threads=1)
    for _ in range(2):
        infos = [env.reset(seed=1)[1] for env in (env, reference)]
        for _ in range(2):
            masks = infos[1].get("action_mask", np.ones((boards, 1)))
            steps = [env.step(masks.argmax(axis=1)) for env in (env, reference)]
            infos = [step[-1] for step in steps]
            assert all(map(np.array_equal, steps[0][:4], steps[1][:4]))
    print("played")

make(threads=2)
if limits == "memory":
    limit(2**30 if rung == "openmp" else 2**28)  # OpenMP's threads have a heap each
env = make()
play(env)
elsewhere(play, env)
try:
    make(threads=40).reset()
except UnavailableError as error:
    print(error)
"""


LIMITS = [("memory", "openmp", "chess"), ("memory", "threads", "cartpole")]
LIMITS += [("3", "openmp", "cartpole"), *system_tier(("memory", "threads", "chess"))]


@pytest.mark.parametrize(("limits", "rung", "env_id"), LIMITS)
def test_where_nobody_asked_for_a_number_fewer_threads_play(limits, rung, env_id):
    limit = {} if limits == "memory" else {"OMP_THREAD_LIMIT": limits}
    named = {"TEST_LIMITS": limits, "TEST_ENV": env_id, "TEST_RUNG": rung}
    here, there, refusal = run(LIMITED + FEWER, **named, **limit).stdout.splitlines()
    assert here == there == "played"
    assert " of 40 threads" in refusal


MAKE = """
import rungs
try:
    rungs.make("chess", "openmp", 1)
except rungs.errors.UnavailableError as error:
    print(error)
"""


@pytest.mark.parametrize("number", ["2,03000000000", "9" * 5_000])
def test_a_number_of_threads_that_ends_the_runtime_is_refused(number):
    assert "OMP_NUM_THREADS" in run(MAKE, OMP_NUM_THREADS=number).stdout


def test_startable_threads_are_counted():
    assert rungs.make("chess", "cpp", 1).boards.api.rungs_startable_threads(3, 2**20) == 3
