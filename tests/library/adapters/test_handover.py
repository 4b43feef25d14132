"""What is handed over without a copy is its reader's own for as long as any part of it is kept."""

import gc

import numpy as np
import pytest

import rungs
from rungs._src.chess.handover import FreshOutputs
from rungs._src.core.memory import on_host
from rungs.errors import IllegalActionError

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


def address(array):
    return array.__array_interface__["data"][0]


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
    outputs, addresses, last = FreshOutputs(env), [], None
    for arrays in stepped(env, outputs, 12):
        addresses.append(address(arrays[0]))
        last = arrays[1][0]  # a row, of another output
        del arrays
    gc.collect()
    assert len({*addresses}) <= 4
    at = address(last)
    before = last.copy()
    for arrays in stepped(env, outputs, 6):
        assert address(arrays[1]) != at
    np.testing.assert_array_equal(last, before)


def test_a_step_that_is_refused_leaves_what_was_handed_over():
    env = rungs.make("chess", "cpp", 2)
    outputs = FreshOutputs(env)
    observation, info = env.reset(out=outputs.next())
    before = observation.copy(), info["action_mask"].copy()
    with pytest.raises(IllegalActionError):
        env.step([0, 0], outputs.next())
    np.testing.assert_array_equal(observation, before[0])
    np.testing.assert_array_equal(info["action_mask"], before[1])
    env.step(env.sample_actions(0), outputs.next())


@pytest.mark.parametrize("rung", ["python", "cpp", "multiprocessing", "cuda"])
def test_a_reset_of_some_boards_writes_all_rows_elsewhere(rung):
    chess_settings = {"device": "cpu"} if rung == "cuda" else {}
    env, same = (
        rungs.make(
            "chess", rung, 3, opening_plies=(4, 9), autoreset_mode="DISABLED", **chess_settings
        )
        for _ in range(2)
    )
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


def test_python_samples_by_the_rules_whatever_is_written_to_masks():
    for mode in ("SAME_STEP", "NEXT_STEP"):
        for mask in ("bool", "bits", "list"):
            chess_settings = {"mask": mask, "autoreset_mode": mode, "max_plies": 3}
            env, same = (
                rungs.make("chess", rung, 5, **chess_settings) for rung in ("python", "cpp")
            )
            for batch in (env, same):
                batch.reset(seed=0)
            for step in range(8):
                actions = same.sample_actions(step)
                env._buffers.mask[:] = 0
                np.testing.assert_array_equal(env.sample_actions(step), actions)
                env.step(actions), same.step(actions)
