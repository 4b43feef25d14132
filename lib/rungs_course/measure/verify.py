"""Comparisons of environments' outputs, bit for bit."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv

from rungs._src.chess.policy import random_actions
from rungs._src.core.memory import on_host
from rungs.errors import MismatchError

_FINAL = ("final_obs", "final_info")


def assert_same(what: str, ours, theirs) -> None:
    """Raises `MismatchError` unless two arrays or tensors have equal dtypes, shapes and bits."""
    ours, theirs = np.asarray(on_host(ours)), np.asarray(on_host(theirs))
    if (ours.dtype, ours.shape) != (theirs.dtype, theirs.shape):
        raise MismatchError(
            f"{what}: {ours.dtype} of {ours.shape}, not {theirs.dtype} of {theirs.shape}"
        )
    if ours.tobytes() != theirs.tobytes():
        raise MismatchError(f"{what} differs")


def verify(name: str, ours: tuple, theirs: tuple, when: str) -> None:
    """Raises `MismatchError` unless two environments returned the same from `step` or `reset`.

    Rows of final observations are compared only where an episode ended.
    """
    names = (
        ("observation", "reward", "terminated", "truncated") if len(ours) > 2 else ("observation",)
    )
    pairs = dict(zip(names, zip(ours[:-1], theirs[:-1], strict=True), strict=True))
    info, expected = ours[-1], theirs[-1]
    if info.keys() != expected.keys():
        raise MismatchError(f"{name}: info has {sorted(info)}, not {sorted(expected)}, {when}")
    pairs |= {key: (info[key], expected[key]) for key in info if key not in _FINAL}
    if "final_obs" in info:
        ended = on_host(expected["_final_obs"])
        finals = {"final_obs": (info["final_obs"], expected["final_obs"])}
        for key, values in info.get("final_info", {}).items():
            finals[f"final_info[{key}]"] = (values, expected["final_info"][key])
        pairs |= {
            key: tuple(np.asarray(on_host(each))[ended] for each in both)
            for key, both in finals.items()
        }
    for output, (our_values, their_values) in pairs.items():
        try:
            assert_same(output, our_values, their_values)
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
