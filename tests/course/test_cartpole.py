"""The course's rungs of CartPole: a process for each environment, and wrong settings."""

import os
import signal

import numpy as np
import pytest

import rungs
from rungs.errors import ConfigurationError, WorkerDiedError
from tests.library.cartpole.test_sameness import assert_same, make, play
from tests.library.chess.test_parallel import gone


@pytest.mark.system
def test_a_process_for_each_changes_nothing():
    envs = [make(rung, 3, max_episode_steps=80) for rung in ("gymnasium", "subproc")]
    for one, other in play(envs, 300):
        assert_same(one, other)
    envs[1].close()


@pytest.mark.system
def test_an_environment_with_a_stopped_process_can_be_closed():
    env = rungs.make("cartpole", "subproc", 2)
    pids = [process.pid for process in env.carts._envs.processes]
    os.kill(pids[0], signal.SIGSTOP)
    env.close()
    assert gone(pids)


@pytest.mark.parametrize(
    ("rung", "argument", "value"),
    [
        ("subproc", "timeout", 0),
        ("numba", "threads_per_block", 0),
        ("numba", "threads_per_block", 1025),
    ],
)
def test_wrong_settings_are_named(rung, argument, value):
    with pytest.raises(ConfigurationError, match=argument):
        make(rung, 2, **{argument: value})


@pytest.mark.system
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSTOP])
def test_a_process_that_is_killed_or_stopped_is_named_and_all_are_ended(end):
    env = rungs.make("cartpole", "subproc", 3, timeout=10)
    env.reset()
    pids = [process.pid for process in env.carts._envs.processes]
    os.kill(pids[1], end)
    for call in (lambda: env.step(np.zeros(3, int)), env.reset):
        with pytest.raises(WorkerDiedError, match=rf"worker 1 \(process {pids[1]}\)"):
            call()
        assert gone(pids)
    env.close()
