"""Rungs against each other on the same games.

All racers play the same actions, which a pilot has chosen beforehand. They take turns, a segment of
the games each, so that whatever else the machine does affects all of them alike. After each segment
a racer's outputs and positions must equal the pilot's, or no time is reported. The clock starts
some steps into a segment, when memory and threads have recovered from the racer before.
"""

import functools
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import islice

import numpy as np
import pandas as pd
from gymnasium.vector import VectorEnv

from rungs.chess import ChessVectorEnv, random_actions
from rungs.errors import MismatchError
from rungs_course.measure.peaks import writing_seconds
from rungs_course.measure.turns import Name, rounds
from rungs_course.measure.verify import verify

_MAX_STEPS = 5000  # per segment: enough for any clock

# A FEN takes longer than a step: positions of more boards are compared by their outputs alone.
_MAX_FENS = 65536


def steps_of(plies: int, num_envs: int) -> int:
    """Returns how many steps of all boards make about `plies` plies: one or more, not too many."""
    return min(max(1, plies // num_envs), _MAX_STEPS)


def race(
    racers: Mapping[Name, ChessVectorEnv],
    pilot: ChessVectorEnv,
    *,
    seed: int,
    steps: int,
    repeats: int,
    warmup: int,
    between: Callable[[], object] | None = None,
) -> pd.DataFrame:
    """Times `step` of each racer over the same random games.

    `pilot` chooses the actions and yields the expected outputs. A segment has `steps` timed steps,
    after a quarter as many; `warmup` segments come first. `between` is called before each step,
    untimed. Returns a row per racer and repeat: `racer`, `repeat`, `plies`, `seconds`.
    """
    played = segments(racers, pilot, seed=seed, steps=steps, between=between)
    seconds = list(islice(played, warmup, warmup + repeats))
    rows = [
        (name, repeat, steps * pilot.num_envs, taken[name])
        for name in racers
        for repeat, taken in enumerate(seconds)
    ]
    return pd.DataFrame(rows, columns=["racer", "repeat", "plies", "seconds"])


def segments(
    racers: Mapping[Name, ChessVectorEnv],
    pilot: ChessVectorEnv,
    *,
    seed: int,
    steps: int,
    between: Callable[[], object] | None = None,
) -> Iterator[dict[Name, float]]:
    """Races as `race`, without end: yields every racer's seconds, segment by segment."""
    rng = np.random.default_rng(seed)
    _, info = pilot.reset(seed=seed)
    for env in racers.values():
        env.reset(seed=seed)
    lead_in = -(-steps // 4)
    actions = np.empty((lead_in + steps, pilot.num_envs), np.int64)

    def play(name: Name) -> float:
        seconds, reached = _play(racers[name], actions, lead_in, between)
        _check_same(name, racers[name], reached, pilot, expected)
        return seconds

    turns = rounds({name: functools.partial(play, name) for name in racers})
    while True:
        for row in actions:
            row[:] = random_actions(info["action_mask"], rng)
            expected = pilot.step(row)
            info = expected[-1]
        yield next(turns)


def _play(env: VectorEnv, actions: np.ndarray, lead_in: int, between) -> tuple[float, tuple]:
    for row in actions[:lead_in]:
        env.step(row)
    if between:
        seconds = 0.0
        for row in actions[lead_in:]:
            between()
            start = time.perf_counter()
            outcome = env.step(row)
            seconds += time.perf_counter() - start
        return seconds, outcome
    start = time.perf_counter()
    for row in actions[lead_in:]:
        outcome = env.step(row)
    return time.perf_counter() - start, outcome


def _check_same(
    name: object, env: ChessVectorEnv, reached: tuple, pilot: ChessVectorEnv, expected: tuple
) -> None:
    verify(str(name), reached, expected, "from the pilot's")
    if env.num_envs <= _MAX_FENS and env.fens() != pilot.fens():
        raise MismatchError(f"{name}: positions differ from the pilot's")


def output_floor(env: VectorEnv, threads: int = 1) -> tuple[int, float]:
    """Returns the bytes that one `step` writes (observation, mask, reward, flags and codes), and
    the seconds to overwrite only those, a bound that no rung can beat.
    """
    written = output_bytes(env)
    return written, writing_seconds(written, threads)


def output_bytes(env: VectorEnv) -> int:
    """Returns how many bytes a `step` of all boards writes, where no episode ends."""
    observation, info = env.reset()
    arrays = [observation, info["action_mask"], *[info[n] for n in ("action_count",) if n in info]]
    return sum(array.nbytes for array in arrays) + 8 * env.num_envs  # reward, flags and codes
