"""What all batched environments share: one caller, actions read once, Ctrl-C between two steps."""

import threading

import pytest

import rungs
from rungs.errors import BusyError
from tests.interrupt import interrupted
from tests.saved import split

ENVS = [
    ("chess", "cpp", "boards", [524] * 4),
    ("chess", "python", "boards", [524] * 4),
    ("cartpole", "cpp", "carts", [1] * 4),
    ("cartpole", "torch", "carts", [1] * 4),
]


@pytest.mark.parametrize(("env_id", "rung", "owned", "actions"), ENVS)
def test_a_second_caller_is_refused(env_id, rung, owned, actions, monkeypatch):
    env = rungs.make(env_id, rung, 4)
    env.reset(seed=0)
    inside, leave = threading.Event(), threading.Event()
    step = getattr(env, owned).step

    def slow(actions):
        inside.set()
        leave.wait()
        return step(actions)

    monkeypatch.setattr(getattr(env, owned), "step", slow)
    outputs = []
    first = threading.Thread(target=lambda: outputs.append(env.step(actions)))
    first.start()
    inside.wait()
    try:
        calls = {
            "step": lambda: env.step(actions),
            "reset": env.reset,
            "get_state": env.get_state,
            "set_state": lambda: env.set_state(b""),
        }
        if env_id == "chess":
            _, (out,) = env.rollout(1)
            calls["fens"] = env.fens
            calls["legal_moves"] = lambda: env.legal_moves(0)
            calls["copy_boards"] = lambda: env.copy_boards([0], [1])
            calls["snapshot"] = env.snapshot
            calls["restore"] = lambda: env.restore(None)
            calls["step "] = lambda: env.step(actions, out)
        else:
            calls["step_many"] = lambda: env.step_many(1)
        for name, call in calls.items():
            with pytest.raises(BusyError, match=rf"{name.strip()}\(\)"):
                call()
    finally:
        leave.set()
        first.join()
    assert len(outputs[0]) == 5
    env.reset()  # and others may call again


@pytest.mark.parametrize("rung", ["cpp", "openmp", "threads", "torch"])
def test_ctrl_c_leaves_counters_and_state_consistent(rung):
    env, other = (rungs.make("cartpole", rung, 64) for _ in range(2))
    for each in (env, other):
        each.reset(seed=3)
    for delay in (0.05, 0.5, 5):  # in which it takes a step, on a busy machine too
        interrupted(delay, call=lambda: env.step_many(2**31 - 1))
        if drawn := split(env.get_state())[0]["drawn"]:
            break
    assert 0 < drawn < 2**31 - 1
    other.step_many(drawn)
    assert env.get_state() == other.get_state()
