"""The same rungs raced at several numbers of boards, and what each gains over one of them."""

from collections.abc import Iterable
from typing import Any

import pandas as pd

import rungs
from rungs.chess import ChessRung
from rungs.devel.envs import MaskFormat
from rungs_course.measure.noise import Factor, factor
from rungs_course.measure.quartiles import quartiles
from rungs_course.measure.race import race, steps_of


def races_over_boards(
    racers: dict[str, dict],
    pilot: ChessRung,
    board_counts: Iterable[int],
    *,
    plies: int,
    **settings,
) -> pd.DataFrame:
    """Races the same rungs at several numbers of boards.

    `racers` are arguments of `rungs.make` by name; `pilot` finds the actions; `plies` counts a
    segment's, of all boards, with at most 5,000 steps. Returns the rows of `race`, with a column
    `num_envs`.
    """
    frames = []
    for num_envs in board_counts:
        envs = {
            name: rungs.make("chess", num_envs=num_envs, **rung_settings)
            for name, rung_settings in racers.items()
        }
        pilot_env = rungs.make("chess", pilot, num_envs)
        frame = race(envs, pilot_env, steps=steps_of(plies, num_envs), **settings)
        frames.append(frame.assign(num_envs=num_envs))
        for env in envs.values():
            env.close()
    return pd.concat(frames, ignore_index=True)


def gains(times: pd.DataFrame, baseline: str) -> pd.DataFrame:
    """Returns how many times as fast as `baseline` each racer is, repeat by repeat.

    A row per number of boards and other racer: `num_envs`, `racer`, the median `gain`, and
    quartiles `low` and `high`.
    """
    return quartiles(_ratios(times, baseline), "gain").reset_index()


def factors(times: pd.DataFrame, baseline: str) -> dict[tuple[str, int], Factor]:
    """Returns `gains` with their noise: a factor per other racer and number of boards."""
    return {key: factor(ratios) for key, ratios in _ratios(times, baseline)}


def _ratios(times: pd.DataFrame, baseline: str):
    """Returns the seconds of `baseline` over a racer's, by racer and number of boards."""
    wide = times.pivot(index=["num_envs", "repeat"], columns="racer", values="seconds")
    ratios = wide.drop(columns=baseline).rdiv(wide[baseline], axis=0)
    long = ratios.melt(ignore_index=False, var_name="racer", value_name="gain").reset_index()
    return long.groupby(["racer", "num_envs"])["gain"]


# Plies of a segment that a reader waits for.
_PLIES = {"python": 512, "multiprocessing": 512, "cpp": 40960, "openmp": 40960, "threads": 40960}


def one_point(
    rung: ChessRung,
    num_envs: int,
    *,
    threads: int,
    schedule: str,
    mask: MaskFormat,
    seed: int,
    api=None,
) -> tuple[float, float]:
    """Makes a single short measurement: a rung against one thread of C++.

    `threads` are those of "threads" and "openmp", or workers of "multiprocessing"; `schedule` is
    "openmp"'s. Returns plies per second of the rung, and how many times as fast as `cpp` it is,
    medians of three.
    """
    rung_settings: dict[str, dict[str, Any]] = {
        "threads": {"api": api, "threads": threads},
        "cpp": {"api": api},
        "openmp": {"api": api, "threads": threads, "schedule": schedule},
        "multiprocessing": {"workers": min(threads, num_envs)},
    }
    chosen: dict[str, ChessRung] = {"cpp": "cpp", "chosen": rung}
    racers = {
        name: rungs.make("chess", racer, num_envs, mask=mask, **rung_settings.get(racer, {}))
        for name, racer in chosen.items()
    }
    pilot = rungs.make("chess", "cpp", num_envs, mask=mask)
    steps = steps_of(_PLIES[rung], num_envs)
    times = race(racers, pilot, seed=seed, steps=steps, repeats=3, warmup=1)
    for env in racers.values():
        env.close()
    median = times.groupby("racer")["seconds"].median()
    return steps * num_envs / median["chosen"], median["cpp"] / median["chosen"]
