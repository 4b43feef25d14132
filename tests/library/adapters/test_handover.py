"""What is handed over without a copy is its reader's own for as long as any part of it is kept."""

import numpy as np
import pytest

import rungs
from rungs._src.chess.handover import FreshOutputs
from rungs._src.core.memory import on_host

KEPT = {
    "the array": lambda array: array,
    "a row of a view": lambda array: array[:][1],
    "other numbers": lambda array: array.reshape(-1).view(np.int8)[3:],
    "its buffer": memoryview,
    "a tensor's row": lambda array: pytest.importorskip("torch").from_numpy(array)[1],
}


def stepped(env, outputs, steps):
    """Plays; yields each step's observation and mask."""
    env.reset(out=outputs.next())
    for _ in range(steps):
        observation, *_, info = env.step(env.sample_actions(0), outputs.next())
        yield observation, info["action_mask"]


@pytest.mark.parametrize("rung", ["python", "cpp", "multiprocessing"])
@pytest.mark.parametrize("kept", [*KEPT])
def test_what_is_kept_is_never_written_again(rung, kept):
    env = rungs.make("chess", rung, 2, opponent="random")
    held = []
    for arrays in stepped(env, FreshOutputs(env), 8):
        for array in arrays:
            part = KEPT[kept](array)
            held.append((part, np.asarray(part).copy()))
        del array, part
    for part, copy in held:
        np.testing.assert_array_equal(np.asarray(part), copy)
    env.close()


def test_memory_is_used_again_once_nothing_refers_to_it():
    env = rungs.make("chess", "cpp", 2)
    addresses = set()
    for arrays in stepped(env, FreshOutputs(env), 12):
        addresses.add(arrays[0].__array_interface__["data"][0])
        del arrays
    assert len(addresses) <= 4


@pytest.mark.parametrize("rung", ["python", "cpp", "multiprocessing", "cuda"])
def test_a_reset_of_some_boards_writes_all_rows_elsewhere(rung):
    settings = {"opening_plies": (4, 9), "autoreset_mode": "DISABLED"}
    settings |= {"device": "cpu"} if rung == "cuda" else {}
    env, same = (rungs.make("chess", rung, 3, **settings) for _ in range(2))
    outputs = FreshOutputs(env)
    first, _ = env.reset(out=outputs.next())
    same.reset()
    before = on_host(first).copy()
    options = {"reset_mask": np.array([False, True, False])}
    observation, info = env.reset(options=options, out=outputs.next())
    expected, its_info = same.reset(options=options)
    np.testing.assert_array_equal(on_host(first), before)
    np.testing.assert_array_equal(observation, expected)
    for name, array in its_info.items():
        np.testing.assert_array_equal(info[name], array)
    assert not np.array_equal(observation, before)
    for batch in (env, same):
        batch.close()
