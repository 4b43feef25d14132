"""What all environments share: one caller, no copies, Ctrl-C between two steps."""

import copy
import pickle
import threading
import types

import gymnasium
import pytest

import rungs
from rungs._src.selfplay.players import RandomPlayer
from rungs.errors import BusyError, InvalidStateError
from tests.interrupt import interrupted
from tests.saved import split

ENVS = [
    ("chess", "cpp", "boards", [524] * 4),
    ("chess", "python", "boards", [524] * 4),
    ("cartpole", "cpp", "carts", [1] * 4),
    ("cartpole", "torch", "carts", [1] * 4),
]
CALLS = {"chess": {"fens": [], "legal_moves": [0], "snapshot": [], "restore": [None]}}
CALLS["chess"] |= {"copy_boards": [[0], [1]]}
CALLS["cartpole"] = {"step_many": [1]}


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
        calls = {"step": [actions], "reset": [], "get_state": [], "set_state": [b""]}
        for name, arguments in (calls | CALLS[env_id]).items():
            with pytest.raises(BusyError, match=rf"{name}\(\)"):
                getattr(env, name)(*arguments)
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


COPIES = [copy.copy, copy.deepcopy, pickle.dumps]
UNCOPYABLE = {
    **{rung: lambda rung=rung: rungs.make("chess", rung, 2) for rung in ("python", "cpp")},
    "cartpole": lambda: rungs.make("cartpole", "gymnasium", 2),
    "async": lambda: rungs.make_async("chess", 2),
    "one game": lambda: gymnasium.make("rungs/Chess-v0").unwrapped,
}


@pytest.mark.parametrize("name", UNCOPYABLE)
@pytest.mark.parametrize("copy_of", COPIES)
def test_copies_are_refused_as_they_would_share_boards(name, copy_of):
    env = UNCOPYABLE[name]()
    env.reset(seed=0)
    with pytest.raises(InvalidStateError, match=r"get_state.*snapshot"):
        copy_of(env)


def test_a_wrapped_game_is_not_copied_deeply():
    with pytest.raises(InvalidStateError):
        copy.deepcopy(gymnasium.make("rungs/Chess-v0"))


def test_a_copied_player_goes_on_by_itself():
    env = rungs.make("chess", "cpp", 4, mask="list")
    table = types.SimpleNamespace(info=env.reset(seed=0)[1])
    player, unmoved = RandomPlayer(3), RandomPlayer(3)
    for copy_of in (copy.copy, copy.deepcopy):
        copy_of(player).choose(table)
    assert player.choose(table).tolist() == unmoved.choose(table).tolist()
