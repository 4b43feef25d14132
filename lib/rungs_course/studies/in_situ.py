"""Why a step takes longer in an update than in a loop of nothing but steps."""

import functools
import time
from collections.abc import Iterable

import numpy as np
import pandas as pd

from rungs._src.chess.policy import random_actions
from rungs._src.chess.vector_env import ChessVectorEnv
from rungs_course.machine.topology import caches
from rungs_course.measure.noise import Factor, factor, factor_apart
from rungs_course.measure.turns import timed_rounds
from rungs_course.studies.full_system import in_play, make

_UNKNOWN_CACHE = 2**25  # bytes: taken for the last cache's where the system does not tell


def step_after(
    names: Iterable[str], num_envs: int, *, seed: int, steps: int, repeats: int
) -> pd.DataFrame:
    """Times single steps, each after nothing, after a pause, or after other memory was written.

    A pause lets threads that wait for work fall asleep; other memory, twice as much as the largest
    cache holds, takes all caches.

    Args:
        names: rungs.
        num_envs: number of boards.
        seed: of games and actions.
        steps: per repeat.
        repeats: how often each is timed, in turns.

    Returns:
        A row per rung, what came before, and repeat: `rung`, `after` ("nothing", "a pause" or
        "other memory"), `repeat`, `seconds` of a step, the median.
    """
    largest = max((cache.bytes for cache in caches()), default=_UNKNOWN_CACHE)
    other = np.ones(2 * largest // 8)

    def write() -> None:
        np.add(other, 1, out=other)

    start = time.perf_counter()
    write()
    pause = time.perf_counter() - start  # as long as writing takes
    before = {
        "nothing": lambda: None,
        "a pause": functools.partial(time.sleep, pause),
        "other memory": write,
    }
    envs = {name: make(name, num_envs) for name in names}
    for env in envs.values():
        in_play(env, seed)
    racers = {
        (name, after): functools.partial(_steps, env, act, steps, seed)
        for name, env in envs.items()
        for after, act in before.items()
    }
    rows = [
        (*name, repeat, seconds)
        for name, repeat, seconds in timed_rounds(racers, repeats=repeats, warmup=1)
    ]
    for env in envs.values():
        env.close()
    return pd.DataFrame(rows, columns=["rung", "after", "repeat", "seconds"])


def longer(steps: pd.DataFrame, updates: pd.DataFrame) -> dict[str, dict[str, Factor]]:
    """Returns how many times as long a step takes as one that comes after another step.

    Args:
        steps: of `step_after`.
        updates: of `rungs_course.studies.full_system.race_updates`, of the same boards, stepped
            once.

    Returns:
        By rung: after "a pause" and after "other memory", which took turns with "nothing", and "in
        an update", which did not.
    """
    generating = updates[updates["part"] == "generate"].groupby("racer")["seconds"]
    found = {}
    for rung, rows in steps.groupby("rung", sort=False):
        seconds = rows.pivot(index="repeat", columns="after", values="seconds")
        alone = seconds.pop("nothing")
        found[rung] = {after: factor(each / alone) for after, each in seconds.items()}
        found[rung]["in an update"] = factor_apart(generating.get_group(rung), alone)
    return found


def _steps(env: ChessVectorEnv, before, steps: int, seed: int) -> float:
    """Plays at random; returns the median seconds of a step."""
    rng, seconds = np.random.default_rng(seed), []
    mask = env.boards.buffers.mask
    for _ in range(steps):
        actions = random_actions(mask, rng)
        before()
        start = time.perf_counter()
        env.step(actions)
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds))
