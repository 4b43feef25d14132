"""One caller per environment; and each action is read once."""

import threading

import numpy as np
import pytest

import rungs
from rungs.errors import BusyError

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
    outcome = []
    first = threading.Thread(target=lambda: outcome.append(env.step(actions)))
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
    assert len(outcome[0]) == 5
    env.reset()  # and others may call again


@pytest.mark.parametrize("rung", ["cpp", "openmp", "threads", "python"])
def test_actions_may_lie_where_the_step_writes(rung):
    how = {"mask": "bits", "obs": "board"}
    env, other = (rungs.make("chess", rung, 73, **how) for _ in range(2))
    for each in (env, other):
        each.reset(seed=0)
    _, (out,) = env.rollout(1)
    actions = out.mask[0].view(np.int64)  # (73,), board 0's mask
    actions[:] = env.legal_moves(0)["g1f3"]
    other.step(actions.copy())
    env.step(actions, out)
    assert env.fens() == other.fens()


@pytest.mark.parametrize("value", [2, 255])
@pytest.mark.parametrize("rung", ["cpp", "openmp", "threads", "gymnasium"])
@pytest.mark.parametrize("mode", ["SAME_STEP", "NEXT_STEP"])
def test_a_mask_of_other_bytes_than_0_and_1(rung, mode, value):
    env, other = (rungs.make("cartpole", rung, 300, autoreset_mode=mode) for _ in range(2))
    mask = np.zeros(300, np.uint8)
    mask[::3] = value
    for each, which in ((env, mask.view(np.bool_)), (other, mask != 0)):
        each.reset(seed=0)
        each.step(np.ones(300, np.int64))
        observation, _ = each.reset(options={"reset_mask": which})
    np.testing.assert_array_equal(env.carts.outputs.observation, observation)
    assert env.get_state() == other.get_state()
