"""Strong and weak scaling over threads, scaling over boards, and the laws fitted to them."""

import functools
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

import rungs
from rungs_course.measure.race import race, segments, steps_of
from rungs_course.measure.turns import timed_rounds


def strong(
    num_envs: int,
    threads: Iterable[int],
    *,
    mask: str,
    api=None,
    **settings,
) -> pd.DataFrame:
    """Races the same boards on more and more threads, in one race.

    Args:
        num_envs: number of boards.
        threads: numbers of threads, of which 1 must be one.
        mask: "bool" or "bits".
        api: the compiled functions, by default Cling's.
        **settings: of `rungs_course.measure.race.race`.

    Returns:
        A row per number of threads and repeat: `threads`, `num_envs`, `repeat`, `seconds` per step
        of all boards.
    """
    racers = {count: _team(num_envs, count, mask, api) for count in threads}
    times = race(racers, rungs.make("chess", "cpp", num_envs, mask=mask), **settings)
    frame = times.rename(columns={"racer": "threads"}).assign(num_envs=num_envs)
    frame["seconds"] *= num_envs / frame["plies"]
    return frame[["threads", "num_envs", "repeat", "seconds"]]


def weak(
    boards_per_thread: int,
    threads: Iterable[int],
    *,
    mask: str,
    seed: int,
    steps: int,
    repeats: int,
    warmup: int,
) -> pd.DataFrame:
    """Races as many more boards as threads: segment by segment, each number has its turn.

    Args:
        boards_per_thread: number of boards for each thread.
        threads: numbers of threads, of which 1 must be one.
        mask: "bool" or "bits".
        seed: of the games.
        steps: per segment.
        repeats: segments timed.
        warmup: segments played first.

    Returns:
        As `strong`.
    """
    races = {}
    for count in threads:
        boards = count * boards_per_thread
        pilot = rungs.make("chess", "cpp", boards, mask=mask)
        racers = {count: _team(boards, count, mask)}
        races[count] = functools.partial(next, segments(racers, pilot, seed=seed, steps=steps))
    rows = [
        (count, count * boards_per_thread, repeat, taken[count] / steps)
        for count, repeat, taken in timed_rounds(races, repeats=repeats, warmup=warmup)
    ]
    return pd.DataFrame(rows, columns=["threads", "num_envs", "repeat", "seconds"])


# Plies that a rung plays in a segment that someone waits for.
_PATIENCE = {"python": 512, "multiprocessing": 512, "cpp": 40960, "openmp": 40960}


def one_point(
    rung: str, num_envs: int, *, threads: int, schedule: str, mask: str, seed: int, api=None
) -> tuple[float, float]:
    """Makes a single measurement, for someone who waits: a rung against one thread of C++.

    Args:
        rung: "python", "multiprocessing", "cpp" or "openmp".
        num_envs: number of boards.
        threads: of "openmp"; workers of "multiprocessing"; the others have one.
        schedule: of "openmp".
        mask: "bool" or "bits".
        seed: of the games.
        api: the compiled functions, by default Cling's.

    Returns:
        Plies per second of the rung, and how many times as fast as `cpp` it is, medians of three.
    """
    compiled = {"api": api} if rung in ("cpp", "openmp") else {}
    own: dict[str, dict[str, Any]] = {
        "openmp": {"threads": threads, "schedule": schedule},
        "multiprocessing": {"workers": min(threads, num_envs)},
    }
    how = own.get(rung, {})
    racers = {
        "cpp": rungs.make("chess", "cpp", num_envs, mask=mask, api=api),
        "chosen": rungs.make("chess", rung, num_envs, mask=mask, **how, **compiled),
    }
    pilot = rungs.make("chess", "cpp", num_envs, mask=mask)
    steps = steps_of(_PATIENCE[rung], num_envs)
    times = race(racers, pilot, seed=seed, steps=steps, repeats=3, warmup=1)
    for env in racers.values():
        env.close()
    median = times.groupby("racer")["seconds"].median()
    return steps * num_envs / median["chosen"], median["cpp"] / median["chosen"]


def _team(num_envs: int, threads: int, mask: str, api=None):
    return rungs.make("chess", "openmp", num_envs, threads=threads, mask=mask, api=api)


def efficiencies(times: pd.DataFrame) -> pd.DataFrame:
    """Returns how well threads are used, repeat by repeat, against one thread.

    With the same boards for all, `speedup` is T(1) / T(p). With as many more boards as threads it
    is p T(1) / T(p): how much more work is done in the same time. `efficiency` is speedup / p.

    Args:
        times: of `strong` or `weak`.

    Returns:
        A row per number of threads and repeat: `threads`, `repeat`, `speedup`, `efficiency`.
    """
    wide = times.pivot(index="repeat", columns="threads", values="seconds")
    boards = times.groupby("threads")["num_envs"].first()
    speedup = wide.rdiv(wide[1], axis=0) * boards / boards[1]
    long = speedup.melt(ignore_index=False, value_name="speedup").reset_index()
    return long.assign(efficiency=long["speedup"] / long["threads"])


def lost(times: pd.DataFrame) -> pd.DataFrame:
    """Returns the time that a step takes beyond an equal share of one thread's, repeat by repeat.

    A cost of the step itself (a call, waking threads, meeting again) is the same time whatever the
    boards; what threads take from each other while they step grows with the boards.

    Args:
        times: of `strong`.

    Returns:
        A row per number of threads above one and repeat: `threads`, `num_envs`, `repeat`, `lost`
        (seconds per step), `alone` (seconds of one thread's step).
    """
    keys = ["num_envs", "repeat"]
    alone = times[times["threads"] == 1].set_index(keys)["seconds"].rename("alone")
    several = times[times["threads"] > 1].join(alone, on=keys)
    several["lost"] = several["seconds"] - several["alone"] / several["threads"]
    return several[["threads", *keys, "lost", "alone"]].reset_index(drop=True)


def serial_fraction(times: pd.DataFrame, law: str) -> pd.Series:
    """Fits the part of the work that threads can't share to the speedups, per repeat.

    Amdahl (same boards): S = 1 / (s + (1 - s) / p). Gustafson (boards grow): S = p - s (p - 1).
    Both are linear in s, once the first is turned over; s is fitted by least squares.

    Args:
        times: of `strong` for Amdahl's law, of `weak` for Gustafson's, or their rows for some
            numbers of threads.
        law: "Amdahl" or "Gustafson".

    Returns:
        s per repeat. Below 0 means more speedup than threads, as caches can bring.
    """
    rows = efficiencies(times).query("threads > 1")
    p, speedup = rows["threads"], rows["speedup"]
    # Both: what is missing = s * weight.
    missing, weight = {
        "Amdahl": (1 / speedup - 1 / p, 1 - 1 / p),
        "Gustafson": (p - speedup, p - 1),
    }[law]
    products = pd.DataFrame(
        {"repeat": rows["repeat"], "above": missing * weight, "below": weight**2}
    )
    sums = products.groupby("repeat").sum()
    return sums["above"] / sums["below"]


def predicted(law: str, serial: float, threads) -> np.ndarray:
    """Returns the speedup that a law gives for some numbers of threads."""
    p = np.asarray(threads, float)
    if law == "Amdahl":
        return 1 / (serial + (1 - serial) / p)
    return p - serial * (p - 1)


def over_boards(
    plies: dict[str, int],
    max_boards: dict[str, int],
    board_counts: Iterable[int],
    *,
    mask: str,
    seed: int,
    repeats: int,
    warmup: int,
) -> pd.DataFrame:
    """Races rungs over numbers of boards, each over as many plies as it can.

    Args:
        plies: about how many plies a segment has, by rung; at least a step of all boards is played.
        max_boards: the largest number of boards, by rung.
        board_counts: numbers of boards.
        mask: "bool" or "bits".
        seed: of the games.
        repeats: segments timed.
        warmup: segments played first.

    Returns:
        A row per rung, number of boards and repeat: `rung`, `num_envs`, `repeat`, `seconds` per
        step of all boards.
    """
    rows = []
    for num_envs in board_counts:
        races, steps, envs = {}, {}, []
        for rung in plies:
            if num_envs > max_boards[rung]:
                continue
            steps[rung] = steps_of(plies[rung], num_envs)
            envs.append(rungs.make("chess", rung, num_envs, mask=mask))
            pilot = rungs.make("chess", "cpp", num_envs, mask=mask)
            played = segments({rung: envs[-1]}, pilot, seed=seed, steps=steps[rung])
            races[rung] = functools.partial(next, played)
        rows += [
            (rung, num_envs, repeat, taken[rung] / steps[rung])
            for rung, repeat, taken in timed_rounds(races, repeats=repeats, warmup=warmup)
        ]
        for env in envs:
            env.close()
    return pd.DataFrame(rows, columns=["rung", "num_envs", "repeat", "seconds"])
