"""What parallel rungs gain over a serial one, and what overlaps with what."""

import contextlib
import time
from collections.abc import Callable, Iterable
from itertools import product

import pandas as pd

import rungs
from rungs.measure.load import busy_process
from rungs.measure.noise import Factor, factor
from rungs.measure.quartiles import quartiles
from rungs.measure.race import race, steps_of


def races_over_boards(
    racers: dict[str, dict], pilot: str, board_counts: Iterable[int], *, plies: int, **settings
) -> pd.DataFrame:
    """Races the same rungs at several numbers of boards.

    Args:
        racers: by name, the arguments of `rungs.make` but for "chess" and `num_envs`.
        pilot: the rung that finds the actions.
        board_counts: numbers of boards.
        plies: per segment, of all boards; fewer where they would be more than 5,000 steps.
        **settings: of `rungs.measure.race.race`, but for `steps`.

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


def races_under_load(
    names: Iterable[str], board_counts: Iterable[int], **settings
) -> list[pd.DataFrame]:
    """Races rungs with the cores to themselves, and beside a process that keeps one busy.

    Args:
        names: the rungs, each raced against `cpp` by itself.
        board_counts: numbers of boards.
        **settings: of `races_over_boards`.

    Returns:
        The rows of each race; the racer is the rung and where it was raced, in words.
    """
    loads: dict[str, Callable] = {
        "alone": contextlib.nullcontext,
        "beside a busy process": busy_process,
    }
    races = []
    for name, (where, load) in product(names, loads.items()):
        racers = {"cpp": {"rung": "cpp"}, f"{name} {where}": {"rung": name}}
        with load():
            races.append(races_over_boards(racers, "cpp", board_counts, **settings))
    return races


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


def timeline(num_envs: int, policy: Callable, *, seed: int, steps: int, asynchronous: bool):
    """Notes when inference and simulation ran, with boards in turn or two halves in flight.

    Args:
        num_envs: number of boards, even.
        policy: from observation and mask to actions.
        seed: of the games.
        steps: steps of all boards.
        asynchronous: whether halves overlap.

    Returns:
        A row per piece of work: `work` ("infer", "simulate"), `half`, `start`, `end` in seconds.
    """
    env = rungs.make_async("chess", num_envs, seed=seed, threads=1)
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


def _noted(rows: list, work: str, half: int, function: Callable) -> Callable:
    def noted(*arguments):
        start = time.perf_counter()
        result = function(*arguments)
        rows.append((work, half, start, time.perf_counter()))
        return result

    return noted
