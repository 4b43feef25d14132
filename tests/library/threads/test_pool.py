"""Our thread pool: through forks, ends, Ctrl-C and callers."""

import contextlib
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import numpy as np
import pytest

import rungs
from rungs._src.native.team import Team
from rungs._src.threads import pool
from rungs.errors import UnavailableError
from tests.processes import succeed


@pytest.fixture(autouse=True)
def _no_team(monkeypatch):
    """Takes no threads of PyTorch's, which another test of the process may have imported."""
    monkeypatch.setattr(Team, "arguments", lambda team: (0, 0))


SETTINGS = {"chess": {"mask": "bits", "opponent": "random"}, "cartpole": {}}
NUM_ENVS = {"chess": 300, "cartpole": 5000}


def make(env_id="chess", rung="threads", **settings):
    team = {"threads": 2} if rung == "threads" else {}
    return rungs.make(env_id, rung, NUM_ENVS[env_id], **SETTINGS[env_id], **team, **settings)


def play(env, steps=20):
    """Plays at random from the start, and returns the state."""
    env.reset(seed=1)
    rng, chess = np.random.default_rng(2), hasattr(env, "fens")
    for _ in range(steps):
        env.step(env.sample_actions(rng) if chess else rng.integers(2, size=env.num_envs))
    return env.get_state()


def threads_here():
    return set(os.listdir("/proc/self/task"))


def in_a_new_thread(call):
    with ThreadPoolExecutor(1) as caller:
        return caller.submit(call).result()


def start_helper():
    """Plays in this thread; returns the helper that it then has."""
    before = threads_here()
    play(make())
    (helper,) = threads_here() - before
    return int(helper)


CORES = sorted(os.sched_getaffinity(0)) if sys.platform == "linux" else []
needs_two_cores = pytest.mark.skipif(len(CORES) < 2, reason="needs Linux, and two cores")


@needs_two_cores
def test_helpers_leave_their_caller_its_core():
    def call():
        helper = start_helper()
        for core in CORES * 2:
            os.sched_setaffinity(0, {core})  # of this thread alone
            deadline = time.monotonic() + 30
            play(make())
            # It goes when it next runs, which on a busy machine may be after a step.
            while os.sched_getaffinity(helper) != {*CORES} - {core}:
                assert time.monotonic() < deadline
                play(make())

    in_a_new_thread(call)


@needs_two_cores
def test_helpers_stay_off_cores_that_the_user_took_away():
    before = {int(thread): os.sched_getaffinity(int(thread)) for thread in threads_here()}

    def allow(cores):
        for thread in threads_here():
            with contextlib.suppress(ProcessLookupError):  # it has ended
                os.sched_setaffinity(int(thread), cores)

    def call():
        helper = start_helper()
        for core in CORES[:2] * 2:
            allow({core})  # as `taskset --all-tasks --pid` does
            play(make())
            assert os.sched_getaffinity(helper) == {core}

    try:
        in_a_new_thread(call)
    finally:
        for thread, cores in before.items():
            with contextlib.suppress(ProcessLookupError):
                os.sched_setaffinity(thread, cores)


@needs_two_cores
def test_helpers_stay_on_cores_that_the_user_gave_them():
    def call():
        os.sched_setaffinity(0, {CORES[0]})
        helper = start_helper()
        os.sched_setaffinity(helper, {CORES[0]})
        for core in CORES[1::-1] * 2:
            os.sched_setaffinity(0, {core})  # of this thread alone
            play(make())
            assert os.sched_getaffinity(helper) == {CORES[0]}

    in_a_new_thread(call)


@pytest.mark.parametrize("env_id", ["chess", "cartpole"])
def test_callers_in_two_threads_have_a_team_each(env_id):
    expected = play(make(env_id, "cpp"))
    envs = [make(env_id) for _ in range(2)]
    with ThreadPoolExecutor(2) as callers:
        assert list(callers.map(play, envs)) == [expected] * 2


def test_threads_are_shared_by_environments_and_end_with_their_caller():
    play(make())
    before = threads_here()
    envs = [make() for _ in range(3)]
    for env in envs:
        play(env)
    assert threads_here() <= before

    def call():
        play(envs[0])
        return threads_here() - before

    threads = in_a_new_thread(call)
    assert len(threads) == 2  # the caller and its helper
    deadline = time.monotonic() + 60
    while threads & threads_here():
        assert time.monotonic() < deadline


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


# Left in the middle of a step of another thread.
LEFT = """
import threading
from tests.library.threads.test_pool import make, play
env = make()
play(env)
threading.Thread(target=lambda: play(env, 10**9), daemon=True).start()
play(make())
"""


@pytest.mark.parametrize("script", [FORKED, LEFT])
def test_a_process_ends_where_it_has_forked_or_threads_play(script):
    succeed([sys.executable, "-c", script], timeout=600)


class Refusing:
    """A system that gives four threads."""

    def rungs_pool_start(self, threads):
        return 4096 if threads <= 4 else -4

    def rungs_pool_end(self, address):
        assert address == 4096


@pytest.mark.parametrize("fewer", [False, True])
def test_what_was_refused_is_not_asked_for_again_and_a_smaller_pool_is_kept(fewer):
    system = mock.Mock(wraps=Refusing())
    if fewer:
        for _ in range(3):
            assert pool.pool_of(system, 5, fewer=True) == 4096
        assert system.rungs_pool_start.call_count == 2  # five, and half of four
    for threads in (3, 2, 3):
        assert pool.pool_of(system, threads) == 4096
        with pytest.raises(UnavailableError, match="4 of 5"):
            pool.pool_of(system, 5)
