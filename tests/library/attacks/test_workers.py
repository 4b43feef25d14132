"""Workers that are stopped, not killed: they are given up in the end, and named."""

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import rungs
from rungs._src.processes.workers import Workers
from rungs.errors import ConfigurationError, WorkerDiedError
from tests.library.chess.test_parallel import gone


class Sink:
    """Served by workers."""

    def take(self, data):
        return len(data)

    def give(self, size):
        return bytes(size)


def test_a_stopped_worker_ends_what_waits_for_it():
    env = rungs.make("chess", "multiprocessing", 2, workers=1, timeout=0.3)
    os.kill(env.boards.pids[0], signal.SIGSTOP)
    with pytest.raises(WorkerDiedError, match=r"worker 0 .* did not answer in 0\.3 s"):
        env.reset()
    assert gone(env.boards.pids)
    env.close()


# With time for the worker that was not stopped, however busy the machine is.
@pytest.mark.system
@pytest.mark.parametrize("transport", ["queue", "shared"])
def test_a_stopped_worker_is_named_and_all_are_ended(transport):
    team = {"workers": 2, "transport": transport, "timeout": 10}
    env = rungs.make("chess", "multiprocessing", 4, **team)
    env.reset()
    pids = env.boards.pids
    os.kill(pids[1], signal.SIGSTOP)
    message = rf"worker 1 \(process {pids[1]}\) did not answer in 10.0 s"
    with pytest.raises(WorkerDiedError, match=message) as caught:
        env.step([524] * 4)
    assert caught.value.worker == 1
    assert gone(pids)
    for again in (env.reset, env.fens, lambda: env.step([524] * 4)):
        with pytest.raises(WorkerDiedError, match=message):
            again()
    env.close()


def test_a_stopped_worker_does_not_hold_up_what_is_too_long_for_its_pipe():
    pool = Workers(Sink, [()], timeout=0.5)
    os.kill(pool.pids[0], signal.SIGSTOP)
    with pytest.raises(WorkerDiedError, match=r"worker 0 .* did not answer in"):
        pool.call_one(0, Sink.take, bytes(10**8))


def test_what_is_too_long_for_a_pipe_arrives_within_a_time_limit():
    pool = Workers(Sink, [(), ()], timeout=60)
    assert pool.call(Sink.take, [(bytes(10**7),)] * 2) == [10**7] * 2
    assert list(map(len, pool.call(Sink.give, [(10**7,)] * 2))) == [10**7] * 2
    pool.close()


def test_a_worker_that_goes_on_in_time_is_waited_for():
    env = rungs.make("chess", "multiprocessing", 4, workers=2, timeout=None)
    env.reset()
    pid = env.boards.pids[0]
    os.kill(pid, signal.SIGSTOP)
    going_on = threading.Timer(1.2, os.kill, (pid, signal.SIGCONT))
    going_on.start()
    env.step([524] * 4)
    going_on.join()
    env.close()


@pytest.mark.system
def test_a_stopped_process_of_sb3_is_named_and_all_are_ended():
    env = rungs.make("cartpole", "subproc", 3, timeout=10)
    env.reset()
    processes = env.carts._envs.processes
    os.kill(processes[1].pid, signal.SIGSTOP)
    message = rf"worker 1 \(process {processes[1].pid}\) did not answer in 10.0 s"
    with pytest.raises(WorkerDiedError, match=message):
        env.step(np.zeros(3, int))
    assert gone([process.pid for process in processes])
    with pytest.raises(WorkerDiedError, match=message):
        env.reset()
    env.close()


@pytest.mark.system
def test_an_environment_with_a_stopped_process_can_be_closed():
    env = rungs.make("cartpole", "subproc", 2)
    pids = [process.pid for process in env.carts._envs.processes]
    os.kill(pids[0], signal.SIGSTOP)
    env.close()
    assert gone(pids)


@pytest.mark.parametrize("rung", [("chess", "multiprocessing"), ("cartpole", "subproc")])
def test_a_wrong_time_limit_is_named(rung):
    with pytest.raises(ConfigurationError, match="timeout="):
        rungs.make(*rung, 4, timeout=0)


# It starts processes as it is imported, which each worker does.
UNGUARDED = """
import rungs

env = rungs.make("{0}", "{1}", 4)
env.reset(seed=0)
print("reached")
"""


@pytest.mark.parametrize(
    "rung",
    [
        ("chess", "multiprocessing"),
        pytest.param(("cartpole", "subproc"), marks=pytest.mark.system),
    ],
)
def test_a_script_without_a_main_guard_is_refused_in_few_lines(tmp_path, rung):
    script = tmp_path / "script.py"
    script.write_text(UNGUARDED.format(*rung))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert done.returncode == 1
    assert not done.stdout
    assert done.stderr.count("Traceback") == 1
    assert "\nrungs.errors.MainGuardError: " in done.stderr
    assert '\nif __name__ == "__main__":\n' in done.stderr
    assert len(done.stderr.splitlines()) < 40
