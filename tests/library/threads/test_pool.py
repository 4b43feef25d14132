"""Our thread pool: through forks, ends, Ctrl-C and callers, and beside the busy."""

import contextlib
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import rungs
from rungs._src.chess.policy import random_actions
from rungs._src.machine.cpu import usable_cores
from rungs._src.threads import pool
from rungs.errors import UnavailableError
from rungs_course.measure.load import busy_process
from rungs_course.measure.race import race
from tests.interrupt import interrupted
from tests.proof import lockstep

SETTINGS = {"chess": {"mask": "bits", "opponent": "random"}, "cartpole": {}}
NUM_ENVS = {"chess": 300, "cartpole": 5000}


def make(env_id="chess", rung="threads", **settings):
    team = {"threads": 2} if rung == "threads" else {}
    return rungs.make(env_id, rung, NUM_ENVS[env_id], **SETTINGS[env_id], **team, **settings)


def play(env, steps=20):
    """Plays at random from the start, and returns the state."""
    _, info = env.reset(seed=1)
    rng = np.random.default_rng(2)
    for _ in range(steps):
        if "action_mask" in info:
            actions = random_actions(info["action_mask"], rng)
        else:
            actions = rng.integers(2, size=env.num_envs)
        *_, info = env.step(actions)
    return env.get_state()


def threads_here():
    return set(os.listdir("/proc/self/task"))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says where threads may run")
def test_helpers_leave_their_caller_its_core():
    allowed = os.sched_getaffinity(0)
    if len(allowed) < 2:
        pytest.skip("one core")

    def call():
        before = threads_here()
        play(make())
        (helper,) = threads_here() - before
        for core in [*sorted(allowed)] * 2:
            os.sched_setaffinity(0, {core})  # of this thread alone
            deadline = time.monotonic() + 30
            play(make())
            # It goes when it next runs, which on a busy machine may be after a step.
            while os.sched_getaffinity(int(helper)) != allowed - {core}:
                assert time.monotonic() < deadline
                play(make())

    with ThreadPoolExecutor(1) as caller:
        caller.submit(call).result()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says where threads may run")
def test_helpers_stay_off_cores_that_the_user_took_away():
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        pytest.skip("one core")
    others = {int(thread): os.sched_getaffinity(int(thread)) for thread in threads_here()}

    def allow(cores):
        for thread in threads_here():
            with contextlib.suppress(ProcessLookupError):  # it has ended
                os.sched_setaffinity(int(thread), cores)

    def call():
        before = threads_here()
        play(make())
        (helper,) = threads_here() - before
        for core in allowed[:2] * 2:
            allow({core})  # as `taskset --all-tasks --pid` does
            play(make())
            assert os.sched_getaffinity(int(helper)) == {core}

    try:
        with ThreadPoolExecutor(1) as caller:
            caller.submit(call).result()
    finally:
        for thread, cores in others.items():
            with contextlib.suppress(ProcessLookupError):
                os.sched_setaffinity(thread, cores)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says where threads may run")
def test_helpers_stay_on_cores_that_the_user_gave_them():
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        pytest.skip("one core")

    def call():
        before = threads_here()
        os.sched_setaffinity(0, {allowed[0]})
        play(make())
        (helper,) = threads_here() - before
        os.sched_setaffinity(int(helper), {allowed[0]})
        for core in [*allowed[1::-1]] * 2:
            os.sched_setaffinity(0, {core})  # of this thread alone
            play(make())
            assert os.sched_getaffinity(int(helper)) == {allowed[0]}

    with ThreadPoolExecutor(1) as caller:
        caller.submit(call).result()


@pytest.mark.parametrize("env_id", ["chess", "cartpole"])
def test_callers_in_two_threads_have_a_team_each(env_id):
    expected = play(make(env_id, "cpp"))
    envs = [make(env_id) for _ in range(2)]
    with ThreadPoolExecutor(2) as callers:
        assert list(callers.map(play, envs)) == [expected] * 2


def test_threads_are_shared_by_environments_and_end_with_their_caller():
    play(make())
    before, seen = threads_here(), set()
    envs = [make() for _ in range(3)]
    for env in envs:
        play(env)
    assert threads_here() <= before

    def call():
        play(envs[0])
        seen.update(threads_here() - before)

    caller = threading.Thread(target=call)
    caller.start()
    caller.join()
    assert len(seen) == 2  # the caller and its helper
    deadline = time.monotonic() + 60
    while seen & threads_here() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not seen & threads_here()


FORKED = """
import os, sys
from tests.library.threads.test_pool import make, play
envs = {env_id: make(env_id) for env_id in ("chess", "cartpole")}
expected = {env_id: play(env) for env_id, env in envs.items()}
child = os.fork()
for env_id, env in envs.items():
    assert play(env) == expected[env_id] == play(make(env_id))
if not child:
    sys.exit()
assert os.waitpid(child, 0)[1] == 0
"""


def test_after_a_fork_both_go_on():
    command = [sys.executable, "-c", FORKED]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=100)
    assert done.returncode == 0, done.stderr


# Left in the middle of a step of another thread.
LEFT = """
import threading
from tests.library.threads.test_pool import make, play
env = make()
play(env)
threading.Thread(target=lambda: play(env, 10**9), daemon=True).start()
play(make())
"""


def test_a_process_ends_whatever_its_threads_do():
    done = subprocess.run([sys.executable, "-c", LEFT], stderr=subprocess.PIPE, timeout=100)
    assert done.returncode == 0, done.stderr


def test_ctrl_c_leaves_a_usable_environment():
    env, reference = make(), make(rung="cpp")
    interrupted(0.05, call=lambda: play(env, 10**9))
    lockstep.play(env, reference, seed=3, steps=3)


class Refusing:
    """A system that gives four threads."""

    def rungs_pool_start(self, threads):
        return 4096 if threads <= 4 else -4

    def rungs_pool_end(self, address):
        assert address == 4096


def test_what_was_given_is_not_asked_for_again():
    system = Refusing()
    assert pool.pool_of(system, 3) == pool.pool_of(system, 2) == 4096
    for _ in range(2):
        with pytest.raises(UnavailableError, match="gives 4 of 5 threads"):
            pool.pool_of(system, 5)
    assert pool.pool_of(system, 3) == 4096


@pytest.mark.system
@pytest.mark.skipif(usable_cores() < 2, reason="one core has no other beside it")
def test_beside_a_busy_process_it_is_hardly_slower_than_one_thread():
    for core in sorted(os.sched_getaffinity(0))[-2:]:
        racers = {rung: make(rung=rung) for rung in ("cpp", "threads")}
        with busy_process(core):
            times = race(racers, make(rung="cpp"), seed=0, steps=300, repeats=15, warmup=2)
        median = times.groupby("racer")["seconds"].median()
        assert median["cpp"] / median["threads"] > 0.3
