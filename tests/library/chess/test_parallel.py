"""The parallel rungs: the same games however boards are shared out, and named errors."""

import gc
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import rungs
from rungs._src.chess.boards.multiprocessing import _Share
from rungs._src.machine.cpu import usable_cores, warn_of_oversubscription
from rungs._src.processes.workers import Workers
from rungs.errors import OversubscriptionWarning, WorkerDiedError
from tests.interrupt import interrupted
from tests.processes import poll
from tests.proof import lockstep
from tests.tiers import system_tier

CORES = usable_cores()
pytestmark = pytest.mark.filterwarnings("ignore::rungs.errors.OversubscriptionWarning")


class Served:
    """Served by workers."""

    def sleep(self, seconds):
        time.sleep(seconds)

    def take(self, data):
        return len(data)

    def give(self, size):
        return bytes(size)


def step_for_ever(env):
    rng = np.random.default_rng(0)
    while True:
        env.step(env.sample_actions(rng))


@pytest.mark.parametrize("threads", [CORES + 1, *system_tier(*({1, 2} - {CORES + 1}))])
@pytest.mark.parametrize("rung", ["openmp", "threads"])
def test_threads_are_cpp_for_any_number_of_threads_and_boards(rung, threads):
    settings = {"opponent": "random", "opening_plies": (0, 5), "max_plies": 12}
    for num_envs in (1, 2, threads, threads + 1, 63, 64, 65, 511, 512, 513):
        batch = rungs.make("chess", rung, num_envs, threads=threads, **settings)
        reference = rungs.make("chess", "cpp", num_envs, **settings)
        lockstep.play(batch, reference, seed=num_envs, steps=16, fens=False)


@pytest.mark.parametrize("schedule", ["static", "dynamic", "guided"])
@pytest.mark.parametrize("chunk", [None, 1, 7, 1000])
def test_openmp_is_cpp_for_any_schedule(schedule, chunk):
    team = {"threads": 3, "schedule": schedule, "chunk": chunk}
    settings = {"obs": "bitplanes", "mask": "bits", "autoreset_mode": "DISABLED", "max_plies": 20}
    batch = rungs.make("chess", "openmp", 390, **team, **settings)
    reference = rungs.make("chess", "cpp", 390, **settings)
    lockstep.play(batch, reference, seed=2, steps=30, fens=False)


@pytest.mark.parametrize("rung", ["openmp", "threads"])
def test_all_threads_find_the_first_illegal_action(rung):
    env = rungs.make("chess", rung, 400, threads=3)
    env.reset()
    actions = env.sample_actions(0)
    before = env.fens()
    for first, second in ((0, 399), (140, 300), (398, 399)):
        bad = actions.copy()
        bad[[first, second]] = 384
        with pytest.raises(rungs.errors.IllegalActionError, match=f"board {first}:"):
            env.step(bad)
        assert env.fens() == before


@pytest.mark.parametrize("transport", ["queue", "shared"])
@pytest.mark.parametrize("workers", [2, *system_tier(1, 3)])
def test_multiprocessing_is_cpp(workers, transport):
    for num_envs, settings in (
        (1, {}),
        (4, {"opponent": "random", "mask": "bits", "obs": "bitplanes"}),
        (7, {"autoreset_mode": "NEXT_STEP", "opening_plies": (0, 9)}),
    ):
        settings |= {"max_plies": 20}
        team = {"workers": workers, "transport": transport}
        batch = rungs.make("chess", "multiprocessing", num_envs, **team, **settings)
        reference = rungs.make("chess", "cpp", num_envs, **settings)
        lockstep.play(batch, reference, seed=num_envs, steps=60)
        batch.close()


def test_oversubscription_warns_once():
    warn_of_oversubscription.cache_clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            rungs.make("chess", "openmp", 4, threads=CORES + 1)
            rungs.make("chess", "openmp", 4, threads=CORES)
    (warning,) = caught
    assert warning.category is OversubscriptionWarning
    assert f"{CORES + 1} threads on {CORES} cores" in str(warning.message)
    assert warning.filename == __file__


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pids):
    return poll(lambda: not any(map(alive, pids)))


def shared_things(pid=""):
    """The shared memory of a process, or of any, as multiprocessing names it."""
    return {path.name for path in Path("/dev/shm").glob(f"pym-{pid}*")}


DEATHS = [(signal.SIGKILL, delay, "SIGKILL") for delay in (0.0, 0.01, 0.2)]
DEATHS += [(signal.SIGSTOP, 0.0, r"10\.0 s")]  # the other has time, however busy the machine is


@pytest.mark.parametrize("transport", ["queue", "shared"])
@pytest.mark.parametrize(("number", "delay", "why"), [DEATHS[0], *system_tier(*DEATHS[1:])])
def test_a_worker_that_is_killed_or_stopped_at_any_moment_is_named(transport, number, delay, why):
    before = shared_things(os.getpid())
    team = {"workers": 2, "transport": transport, "timeout": 10}
    env = rungs.make("chess", "multiprocessing", 64, **team)
    env.reset()
    pids = env.boards.pids
    threading.Timer(delay, os.kill, (pids[1], number)).start()
    message = rf"worker 1 \(process {pids[1]}\).*{why}"
    with pytest.raises(WorkerDiedError, match=message):
        step_for_ever(env)
    assert gone(pids)
    for name in ("reset", "fens"):
        with pytest.raises(WorkerDiedError, match=message):
            getattr(env, name)()
    env.close()
    del env
    assert shared_things(os.getpid()) <= before


# No worker, or only the first of two.
@pytest.mark.parametrize("files", [0, 7])
def test_a_worker_that_can_not_be_started_is_named(files):
    Workers(list, [()]).close()  # whose server is there from now on
    gc.collect()  # what earlier tests left open is closed now, and not below
    before = os.listdir("/proc/self/fd")
    free = [file for file in range(1000) if not os.path.exists(f"/proc/self/fd/{file}")]
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free[files], limits[1]))
    try:
        with pytest.raises(WorkerDiedError, match=r"started.*Too many open files"):
            Workers(list, [()] * 2)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    gc.collect()
    assert os.listdir("/proc/self/fd") == before
    assert not multiprocessing.active_children()


def test_a_worker_that_raises_is_named_with_its_traceback():
    env = rungs.make("chess", "multiprocessing", 4, workers=2)
    pids = env.boards.pids
    with pytest.raises(WorkerDiedError, match=r"(?s)worker 1 raised.*IndexError"):
        env.boards._pool.call_one(1, _Share.fen, 99)
    assert gone(pids)


def test_closing_and_forgetting_leave_nothing():
    before = shared_things(os.getpid())
    for forget in (False, True):
        env = rungs.make("chess", "multiprocessing", 4, workers=2, transport="shared")
        env.reset()
        pids = env.boards.pids
        assert all(map(alive, pids))
        if not forget:
            env.close()
        del env
        assert gone(pids)
    assert shared_things(os.getpid()) <= before


INTERRUPTED = [("multiprocessing", {"workers": 2}), ("threads", {"threads": 2})]


@pytest.mark.parametrize("moment", [0.02, *system_tier(0.0005, 0.005)])
@pytest.mark.parametrize(("rung", "team"), INTERRUPTED)
def test_ctrl_c_leaves_a_usable_environment(rung, team, moment):
    env = rungs.make("chess", rung, 300, max_plies=9, **team)
    reference = rungs.make("chess", "cpp", 300, max_plies=9)
    env.reset(seed=1)
    interrupted(moment, call=lambda: step_for_ever(env))
    lockstep.play(env, reference, seed=3, steps=3)
    env.close()


def test_ctrl_c_twice_gives_up_on_workers_that_hang():
    pool = Workers(Served, [(), ()])
    pids = pool.pids
    interrupted(0.2, 0.4, call=lambda: pool.call(Served.sleep, [(60,), (0,)]))
    assert gone(pids)
    with pytest.raises(WorkerDiedError):
        pool.call(Served.sleep, [(0,), (0,)])


def test_an_interrupted_step_is_known_to_the_environment(monkeypatch):
    env = rungs.make("chess", "multiprocessing", 2, max_plies=1, autoreset_mode="DISABLED")
    env.reset()
    call = env.boards._pool.call

    def interrupted(*arguments):
        signal.raise_signal(signal.SIGINT)
        return call(*arguments)

    monkeypatch.setattr(env.boards._pool, "call", interrupted)
    _, (out,) = env.rollout(1)
    with pytest.raises(KeyboardInterrupt):
        env.step([524, 524], out)
    monkeypatch.undo()
    assert out.ended.all()
    with pytest.raises(gymnasium.error.ResetNeeded, match="boards 0, 1"):
        env.step([524, 524])
    env.close()


def test_what_is_too_long_for_a_pipe_arrives_in_time_or_not_at_all():
    pool = Workers(Served, [(), ()], timeout=60)
    assert pool.call(Served.take, [(bytes(10**7),)] * 2) == [10**7] * 2
    assert list(map(len, pool.call(Served.give, [(10**7,)] * 2))) == [10**7] * 2
    pool.close()
    pool = Workers(Served, [()], timeout=0.5)
    os.kill(pool.pids[0], signal.SIGSTOP)
    with pytest.raises(WorkerDiedError, match=r"worker 0 .* did not answer in"):
        pool.call_one(0, Served.take, bytes(10**8))


def test_a_worker_that_goes_on_in_time_is_waited_for():
    pool = Workers(Served, [()], timeout=None)
    os.kill(pool.pids[0], signal.SIGSTOP)
    threading.Timer(1.2, os.kill, (pool.pids[0], signal.SIGCONT)).start()
    assert pool.call(Served.take, [(b"x",)]) == [1]
    pool.close()


# It starts processes as it is imported, which each worker does.
UNGUARDED = """
import rungs

env = rungs.make("chess", "multiprocessing", 4)
env.reset(seed=0)
print("reached")
"""


def test_a_script_without_a_main_guard_is_refused_in_few_lines(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(UNGUARDED)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("Traceback") == 1
    assert "\nrungs.errors.MainGuardError: " in done.stderr
    assert len(done.stderr.splitlines()) < 40
