"""Two halves in flight: the same games, in a fixed order, whatever takes how long."""

import os
import signal
import threading

import gymnasium
import numpy as np
import pytest

import rungs
from rungs._src.chess.policy import random_actions
from rungs.errors import BusyError, ConfigurationError, IllegalActionError
from rungs_course.measure.verify import assert_same
from tests.interrupt import interrupted


@pytest.mark.parametrize(("start", "seed"), [(None, 3), ("chess960", [*range(70, 0, -1)])])
def test_every_board_plays_as_in_a_synchronous_environment(start, seed):
    games = {"seed": seed, "start": start, "opponent": "random", "max_plies": 40}
    env = rungs.make_async("chess", 70, threads=2, **games)
    synchronous = rungs.make("chess", "cpp", 70, **games)
    env.reset()
    observation, info = synchronous.reset()
    expected = (observation, np.zeros(70), np.zeros(70, bool), np.zeros(70, bool), info)
    rng = np.random.default_rng(0)
    for _ in range(120):
        actions = random_actions(info["action_mask"], rng)
        for turn in range(2):
            *outputs, half_info = env.recv()
            boards = half_info["boards"]
            assert boards == slice(35 * turn, 35 * turn + 35)
            for output, all_boards in zip(outputs, expected, strict=False):
                np.testing.assert_array_equal(output, all_boards[boards])
            for name in ("action_mask", "player", "reason"):
                assert_same(name, half_info[name], np.ascontiguousarray(info[name][boards]))
            env.send(sent := actions[boards].copy())
            sent[:] = -1  # it is the caller's
        expected = synchronous.step(actions)
        info = expected[-1]
    for new_seed in (seed, [*range(70)]):
        for batch in (env, synchronous):
            batch.reset(seed=new_seed)
        assert env.fens() == synchronous.fens()
    for wrong in ([1, 2, 3], [1, -1] * 35):
        with pytest.raises(ConfigurationError, match="seed"):
            env.reset(seed=wrong)
    assert env.fens() == synchronous.fens()
    env.close()


def test_an_illegal_action_is_raised_where_it_is_received():
    env = rungs.make_async("chess", 6)
    env.reset()
    env.recv()
    env.send([524, 524, 524])
    env.recv()
    env.send([524, 384, 524])
    env.recv()
    env.send([524, 524, 524])
    with pytest.raises(IllegalActionError, match="board 4"):
        env.recv()
    # The half waits for actions as before, and the other's step is not lost.
    env.send([524, 524, 524])
    assert [fen.split()[1] for fen in env.fens()] == ["w"] * 3 + ["b"] * 3
    env.close()


def test_two_halves_are_received_and_sent_in_turns():
    for number in (1, 3, 0, "2"):
        with pytest.raises(ConfigurationError, match="num_envs"):
            rungs.make_async("chess", number)
    with pytest.raises(ConfigurationError, match="checkers"):
        rungs.make_async("checkers", 2)
    env = rungs.make_async("chess", 4)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.recv()
    env.reset()
    with pytest.raises(gymnasium.error.NoAsyncCallError):
        env.send([524, 524])
    env.recv()
    with pytest.raises(gymnasium.error.NoAsyncCallError):
        env.recv()
    with pytest.raises(ConfigurationError, match="shape"):
        env.send([524])
    env.send([524, 524])
    env.recv()
    # A reset in the middle begins anew, with the first half.
    env.reset()
    assert env.recv()[-1]["boards"] == slice(0, 2)
    env.close()
    env.close()
    for call in (env.reset, env.recv, env.fens):
        with pytest.raises(gymnasium.error.ClosedEnvironmentError):
            call()


@pytest.fixture
def stuck(monkeypatch):
    """An environment whose first half is in a step, and the event that lets it go on."""
    env, go_on = rungs.make_async("chess", 4), threading.Event()
    env.reset(seed=0)
    step = env.halves[0].step
    monkeypatch.setattr(env.halves[0], "step", lambda actions: go_on.wait() and step(actions))
    for _ in range(2):
        env.recv()
        env.send([524, 524])
    yield env, go_on
    go_on.set()
    env.close()


def test_an_interrupted_recv_returns_the_same_half_again(stuck):
    env, go_on = stuck
    interrupted(0.1, call=env.recv)
    go_on.set()
    observation, *_, info = env.recv()
    assert info["boards"] == slice(0, 2)
    assert info["player"].tolist() == [1, 1]  # 524 was played
    assert observation.shape == (2, 72)


def test_a_second_caller_is_refused(stuck, monkeypatch):
    env, go_on = stuck
    outputs, inside = [], threading.Event()
    check_begun = env._check_begun
    monkeypatch.setattr(env, "_check_begun", lambda: inside.set() or check_begun())
    receiving = threading.Thread(target=lambda: outputs.append(env.recv()))
    receiving.start()
    inside.wait()
    for name in ("reset", "recv", "fens", "close", "send", "wait"):
        with pytest.raises(BusyError, match=rf"{name}\(\)"):
            getattr(env, name)(*([[524, 524]] if name == "send" else []))
    go_on.set()
    receiving.join()
    assert outputs[0][-1]["boards"] == slice(0, 2)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_both_processes_continue_after_a_fork():
    env, twin = (rungs.make_async("chess", 40, seed=3, mask="list", threads=2) for _ in range(2))

    def play(env, steps=8):
        for _ in range(steps):
            env.send(env.recv()[-1]["action_mask"][:, 0].astype(np.int64))

    for batch in (env, twin):
        batch.reset()
        play(batch, 5)
    play(twin)
    expected = twin.fens()
    child = os.fork()  # while a step is in flight
    if not child:
        signal.alarm(60)  # in place of a hang
        play(env)
        os._exit(env.fens() != expected)
    try:
        play(env)
        assert env.fens() == expected
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        env.close()
        twin.close()
