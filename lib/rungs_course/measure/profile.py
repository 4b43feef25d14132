"""Profiles of a Python rung's steps, by function."""

import cProfile
import pstats
from pathlib import Path

import numpy as np
import pandas as pd
from gymnasium.vector import VectorEnv

from rungs_course.measure.verify import any_actions


def profile_steps(env: VectorEnv, *, seed: int, steps: int) -> pd.DataFrame:
    """Profiles random steps of one of our environments in Python.

    Returns a row per function: `file`, `line`, `name`, `calls`, `own_seconds` (without callees) and
    `total_seconds` (with them), most total first.
    """
    rng = np.random.default_rng(seed)
    _, info = env.reset(seed=seed)
    profiler = cProfile.Profile()
    for _ in range(steps):
        actions = any_actions(env, info, rng)
        profiler.enable()
        *_, info = env.step(actions)
        profiler.disable()
    stats = pstats.Stats(profiler).stats  # type: ignore[attr-defined]  # not declared
    rows = [
        (Path(file).name, line, name, calls, self_seconds, total_seconds)
        for (file, line, name), (_, calls, self_seconds, total_seconds, _) in stats.items()
    ]
    columns = ["file", "line", "name", "calls", "own_seconds", "total_seconds"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.sort_values("total_seconds", ascending=False, ignore_index=True)
