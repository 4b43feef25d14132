"""Comparisons of environments' outputs, bit for bit."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv

from rungs.chess import random_actions
from rungs.errors import MismatchError
from rungs.memory import on_host

_FINAL = ("final_obs", "final_info")


def assert_same(name: str, array, expected) -> None:
    """Raises `MismatchError` unless two arrays or tensors have equal dtypes, shapes and bits."""
    array, expected = np.asarray(on_host(array)), np.asarray(on_host(expected))
    if (array.dtype, array.shape) != (expected.dtype, expected.shape):
        raise MismatchError(
            f"{name}: {array.dtype} of {array.shape}, not {expected.dtype} of {expected.shape}"
        )
    if array.tobytes() != expected.tobytes():
        raise MismatchError(f"{name} differs")


def verify(name: str, outputs: tuple, expected_outputs: tuple, when: str) -> None:
    """Raises `MismatchError` unless two environments returned the same from `step` or `reset`.

    Rows of final observations are compared only where an episode ended.
    """
    names = (
        ("observation", "reward", "terminated", "truncated")
        if len(outputs) > 2
        else ("observation",)
    )
    pairs = dict(zip(names, zip(outputs[:-1], expected_outputs[:-1], strict=True), strict=True))
    info, expected = outputs[-1], expected_outputs[-1]
    if info.keys() != expected.keys():
        raise MismatchError(f"{name}: info has {sorted(info)}, not {sorted(expected)}, {when}")
    pairs |= {key: (info[key], expected[key]) for key in info if key not in _FINAL}
    if "final_obs" in info:
        ended = on_host(expected["_final_obs"])
        finals = {"final_obs": (info["final_obs"], expected["final_obs"])}
        for key, values in info.get("final_info", {}).items():
            finals[f"final_info[{key}]"] = (values, expected["final_info"][key])
        pairs |= {
            key: tuple(np.asarray(on_host(array))[ended] for array in both)
            for key, both in finals.items()
        }
    for output, (array, expected_array) in pairs.items():
        try:
            assert_same(output, array, expected_array)
        except MismatchError as error:
            raise MismatchError(f"{name}: {error} {when}") from None


def any_actions(env: VectorEnv, info: dict, rng: np.random.Generator) -> np.ndarray:
    """Returns a random action for each, (N,) int64: a legal one where `info` has a mask."""
    if "action_mask" in info:
        return random_actions(on_host(info["action_mask"]), rng)
    space: Any = env.single_action_space  # a `Discrete`
    return rng.integers(space.n, size=env.num_envs)


def verify_games(envs: Mapping[str, VectorEnv], *, seed: int, steps: int) -> None:
    """Plays the same random actions on several environments and raises `MismatchError` where one
    differs from the first.
    """
    (_, first), *others = envs.items()
    expected: tuple = first.reset(seed=seed)
    for name, env in others:
        verify(name, env.reset(seed=seed), expected, "after the reset")
    rng = np.random.default_rng(seed)
    for step in range(steps):
        actions = any_actions(first, expected[-1], rng)
        expected = first.step(actions)
        for name, env in others:
            verify(name, env.step(actions), expected, f"in step {step}")
