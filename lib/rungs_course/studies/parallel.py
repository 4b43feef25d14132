"""What parallel rungs gain over a serial one, and what overlaps with what."""

import contextlib
import functools
import time
from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

import pandas as pd

import rungs
from rungs_course.measure.load import busy_process
from rungs_course.measure.noise import Factor, factor
from rungs_course.measure.quartiles import quartiles
from rungs_course.measure.race import race, steps_of
from rungs_course.measure.turns import timed_rounds


def races_over_boards(
    racers: dict[str, dict], pilot: str, board_counts: Iterable[int], *, plies: int, **settings
) -> pd.DataFrame:
    """Races the same rungs at several numbers of boards.

    Args:
        racers: by name, the arguments of `rungs.make` but for "chess" and `num_envs`.
        pilot: the rung that finds the actions.
        board_counts: numbers of boards.
        plies: per segment, of all boards; fewer where they would be more than 5,000 steps.
        **settings: of `rungs_course.measure.race.race`, but for `steps`.

    Returns:
        The rows of `race` with `num_envs` beside.
    """
    frames = []
    for num_envs in board_counts:
        envs = {name: rungs.make("chess", num_envs=num_envs, **how) for name, how in racers.items()}
        pilot_env = rungs.make("chess", pilot, num_envs)
        frame = race(envs, pilot_env, steps=steps_of(plies, num_envs), **settings)
        frames.append(frame.assign(num_envs=num_envs))
        for env in envs.values():
            env.close()
    return pd.concat(frames, ignore_index=True)


def races_under_load(names: Iterable[str], board_counts: Iterable[int], **settings) -> pd.DataFrame:
    """Races rungs with the cores to themselves, and beside a process that keeps one busy.

    Args:
        names: the rungs, each raced against `cpp` by itself.
        board_counts: numbers of boards.
        **settings: of `races_over_boards`.

    Returns:
        The rows of all races, with `race` beside: the rung and where it was raced, in words, as its
        racer is called. Each has a `cpp` of its own.
    """
    loads: dict[str, Callable] = {
        "alone": contextlib.nullcontext,
        "beside a busy process": busy_process,
    }
    races = []
    for name, (where, load) in product(names, loads.items()):
        race = f"{name} {where}"
        racers = {"cpp": {"rung": "cpp"}, race: {"rung": name}}
        with load():
            found = races_over_boards(racers, "cpp", board_counts, **settings)
        races.append(found.assign(race=race))
    return pd.concat(races, ignore_index=True)


def gains(times: pd.DataFrame, baseline: str) -> pd.DataFrame:
    """Returns how many times as fast as `baseline` each racer is, repeat by repeat.

    Args:
        times: of `races_over_boards`.
        baseline: a racer.

    Returns:
        A row per number of boards and other racer: `num_envs`, `racer`, and `gain`'s median and
        quartiles `low`, `high`.
    """
    return quartiles(_ratios(times, baseline), "gain").reset_index()


def factors(times: pd.DataFrame, baseline: str) -> dict[tuple[str, int], Factor]:
    """Returns the same with its noise: a factor for each other racer and number of boards."""
    return {key: factor(ratios) for key, ratios in _ratios(times, baseline)}


def _ratios(times: pd.DataFrame, baseline: str):
    """Returns the seconds of `baseline` over a racer's, by racer and number of boards."""
    wide = times.pivot(index=["num_envs", "repeat"], columns="racer", values="seconds")
    ratios = wide.drop(columns=baseline).rdiv(wide[baseline], axis=0)
    long = ratios.melt(ignore_index=False, var_name="racer", value_name="gain").reset_index()
    return long.groupby(["racer", "num_envs"])["gain"]


def timeline(
    num_envs: int,
    policy: Callable,
    *,
    seed: int,
    steps: int,
    asynchronous: bool,
    mask: str = "bool",
):
    """Notes when inference and simulation ran, with boards in turn or two halves in flight.

    Args:
        num_envs: number of boards, even.
        policy: from observation and mask to actions.
        seed: of the games.
        steps: steps of all boards.
        asynchronous: whether halves overlap.
        mask: format of the masks that the policy takes.

    Returns:
        A row per piece of work: `work` ("infer", "simulate"), `half`, `start`, `end` in seconds.
    """
    env = rungs.make_async("chess", num_envs, seed=seed, mask=mask, threads=1)
    rows: list[tuple] = []
    for number, half in enumerate(env.halves):
        noted = _noted(rows, "simulate", number, half.step)
        half.step = noted  # type: ignore[method-assign]
    env.reset()
    begin = time.perf_counter()
    for turn in range(2 * steps):
        observation, *_, info = env.recv()
        infer = _noted(rows, "infer", turn % 2, policy)
        env.send(infer(observation, info["action_mask"]))
        if not asynchronous:
            env.wait()
    env.close()
    frame = pd.DataFrame(rows, columns=["work", "half", "start", "end"])
    return frame.assign(start=frame["start"] - begin, end=frame["end"] - begin)


def overlaps(
    num_envs: int,
    policies: dict[str, Callable],
    *,
    seed: int,
    steps: int,
    repeats: int,
    warmup: int,
) -> pd.DataFrame:
    """Times steps with two halves of the boards in turn, and in flight at the same time.

    Args:
        num_envs: number of boards, even.
        policies: by name, from observation and `bits` mask to actions.
        seed: of the games.
        steps: steps of all boards per repeat.
        repeats: how often each is timed, in turns.
        warmup: rounds that come first, untimed.

    Returns:
        A row per policy, way and repeat: `policy`, `way` ("in turn", "overlapping"), `repeat`, and
        seconds per step of all boards, the `whole` and what of it were `infer` and `simulate`.
    """
    ways = {"in turn": False, "overlapping": True}
    how: dict[str, Any] = {"seed": seed, "steps": steps, "mask": "bits"}
    racers = {
        (name, way): functools.partial(timeline, num_envs, policy, asynchronous=asynchronous, **how)
        for name, policy in policies.items()
        for way, asynchronous in ways.items()
    }
    rows = []
    for names, repeat, frame in timed_rounds(racers, repeats=repeats, warmup=warmup):
        took = (frame["end"] - frame["start"]).groupby(frame["work"]).sum() / steps
        rows.append((*names, repeat, frame["end"].max() / steps, took["infer"], took["simulate"]))
    return pd.DataFrame(rows, columns=["policy", "way", "repeat", "whole", "infer", "simulate"])


def overlap_gains(times: pd.DataFrame) -> dict[str, tuple[Factor, float]]:
    """Returns what overlapping gains, and the most that it could: where the shorter work is hidden.

    Args:
        times: of `overlaps`.

    Returns:
        By policy, the measured factor with its noise, and the bound from the works' medians.
    """
    found = {}
    for policy, rows in times.groupby("policy", sort=False):
        wide = rows.pivot(index="repeat", columns="way", values="whole")
        works = rows[rows["way"] == "in turn"][["infer", "simulate"]].median()
        bound = float(works.sum() / works.max())
        found[policy] = (factor(wide["in turn"] / wide["overlapping"]), bound)
    return found


def _noted(rows: list, work: str, half: int, function: Callable) -> Callable:
    def noted(*arguments):
        start = time.perf_counter()
        result = function(*arguments)
        rows.append((work, half, start, time.perf_counter()))
        return result

    return noted
