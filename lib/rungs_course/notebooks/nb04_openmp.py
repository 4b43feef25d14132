"""Threads that share a step: cache lines, barriers, calls from Python, and overlapping."""

import functools
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd

import rungs
from rungs.devel import CACHE_LINE, described, loader, whole_lines
from rungs.devel.envs import MaskFormat
from rungs.errors import MismatchError
from rungs_course import teams
from rungs_course.measure.noise import Factor, factor
from rungs_course.measure.race import steps_of
from rungs_course.measure.turns import timed_rounds


def owners(num_envs: int, threads: int, layout: str) -> np.ndarray:
    """Returns which thread plays each block: in turn for "naive" and "padded", else in runs."""
    blocks = np.arange(-(-num_envs // teams.BLOCK))
    return (
        blocks % threads if layout in ("naive", "padded") else blocks // -(-len(blocks) // threads)
    )


def shared_lines(num_envs: int, threads: int) -> pd.DataFrame:
    """Counts the cache lines that several threads write to in a step, as boards are laid out.

    Returns a row per way and array (the outputs, and "state"): `way`, `array`, `bytes` (of a
    block), `lines` (of all), `shared` (how many of those are written by more than one thread).
    """
    env = rungs.make("chess", "cpp", teams.BLOCK)
    sizes = {"state": described(loader.load()).constants["block_bytes"]}
    sizes |= {name: array.nbytes for name, array in vars(env.boards.buffers).items()}
    rows = []
    for layout in ("naive", "chunked", "padded"):
        owner = owners(num_envs, threads, layout)
        for array, size in sizes.items():
            if size:
                apart = whole_lines(size) if layout == "padded" else size
                lines, shared = _written_lines(owner, size, apart)
                rows.append((layout, array, size, lines, shared))
    return pd.DataFrame(rows, columns=["way", "array", "bytes", "lines", "shared"])


def _written_lines(owner: np.ndarray, size: int, apart: int) -> tuple[int, int]:
    """Returns on how many lines rows of `size` bytes are, and how many of them are shared."""
    rows = [
        (line, thread)
        for start, thread in zip(range(0, apart * len(owner), apart), owner, strict=True)
        for line in range(start // CACHE_LINE, (start + size - 1) // CACHE_LINE + 1)
    ]
    threads = pd.DataFrame(rows, columns=["line", "thread"]).groupby("line")["thread"].nunique()
    return len(threads), int((threads > 1).sum())


def writes(num_envs: int, threads: int) -> pd.DataFrame:
    """Returns which thread writes which block's flags when, if all go at the same pace.

    A row per way and block: `way`, `block`, `thread`, `time` (blocks that its thread has played
    before), `line` (of memory, where its flags of one kind are, a byte per board), `place` (within
    it, in blocks).
    """
    frames = []
    for layout in ("naive", "chunked", "padded"):
        thread = owners(num_envs, threads, layout)
        block = np.arange(len(thread))
        before = pd.Series(thread).groupby(thread).cumcount()
        at = block * (CACHE_LINE if layout == "padded" else teams.BLOCK)
        memory = {"line": at // CACHE_LINE, "place": at % CACHE_LINE // teams.BLOCK}
        blocks = {"way": layout, "block": block, "thread": thread, "time": before.to_numpy()}
        frames.append(pd.DataFrame(blocks | memory))
    return pd.concat(frames, ignore_index=True)


def moves(written: pd.DataFrame) -> pd.DataFrame:
    """Returns `writes` in the order of time, with `moved`: whether another thread wrote to that
    cache line last.
    """
    ordered = written.sort_values(["way", "time", "thread"], ignore_index=True)
    last = ordered.groupby(["way", "line"])["thread"].shift()
    return ordered.assign(moved=last.notna() & (last != ordered["thread"]))


def where_time_goes(
    board_counts: Iterable[int], threads: int, *, plies: int, repeats: int, warmup: int, seed: int
) -> pd.DataFrame:
    """Times the same steps with and without several threads, their barriers, and Python's calls.

    All play the same games, `plies` of all boards in a repeat. Returns a row per number of boards,
    repeat and way: `num_envs`, `repeat`, `way`, and `seconds` of a step. Ways: "alone" and
    "meeting" (a team that meets in each step), called from Python for each step; "alone, one call"
    and "meeting, one call" for all of them; and "apart", a team that meets only at their end.
    """
    rows = []
    for num_envs in board_counts:
        steps = steps_of(plies, num_envs)
        before, actions, after = random_games(num_envs, 2 * steps, seed)
        alone, team = (teams.make(layout, num_envs, threads) for layout in ("alone", "chunked"))
        for env in (alone, team):
            env.reset(seed=seed)
        one: Any = alone.boards
        several: Any = team.boards
        calls = {
            "alone": (one, one.step, True),
            "meeting": (several, several.step, True),
            "alone, one call": (one, one.play, False),
            "meeting, one call": (several, several.play, False),
            "apart": (several, several.play_apart, False),
        }
        racers = {
            name: functools.partial(seconds_of_games, *call, before, actions, after)
            for name, call in calls.items()
        }
        rows += [
            (num_envs, repeat, name, seconds)
            for name, repeat, seconds in timed_rounds(racers, repeats=repeats, warmup=warmup)
        ]
    return pd.DataFrame(rows, columns=["num_envs", "repeat", "way", "seconds"])


def random_games(num_envs: int, steps: int, seed: int) -> tuple:
    """Returns saved boards in the middle of games, random actions from there, and the last FENs."""
    pilot: Any = rungs.make("chess", "cpp", num_envs)
    rng = np.random.default_rng(seed)
    pilot.reset(seed=seed)
    for _ in range(40):
        pilot.step(pilot.sample_actions(rng))
    before = pilot.boards.save(np.arange(num_envs))
    actions = np.empty((steps, num_envs), np.int64)
    for row in actions:
        row[:] = pilot.sample_actions(rng)
        pilot.step(row)
    return before, actions, pilot.fens()


def seconds_of_games(
    boards: Any, play: Callable, stepwise: bool, before: tuple, actions: np.ndarray, after: list
) -> float:
    """Plays games; returns the mean seconds of a step in the second half of them."""
    half = len(actions) // 2
    parts = (actions[:half], actions[half:])
    boards.put(before, np.arange(actions.shape[1]), False)
    for part in parts:
        start = time.perf_counter()
        for chunk in part if stepwise else [part]:
            play(chunk)
        seconds = time.perf_counter() - start
    if boards.fens() != after:
        raise MismatchError("a team of threads plays other games than one thread")
    return seconds / len(part)


def parts(times: pd.DataFrame, threads: int) -> pd.DataFrame:
    """Splits the time of a team's step into parts, repeat by repeat.

    Returns a row per number of boards, repeat and part: `num_envs`, `repeat`, `part`, and `share`
    of the ideal time, one thread's over their number. Parts: "at the same time" is how much longer
    boards take while other threads play theirs; "synchronisation" is the waiting of threads for
    each other; "calls" is Python's part.
    """
    wide = times.pivot(index=["num_envs", "repeat"], columns="way", values="seconds")
    ideal = wide["alone, one call"] / threads
    part_seconds = pd.DataFrame(
        {
            "at the same time": wide["apart"] - ideal,
            "synchronisation": wide["meeting, one call"] - wide["apart"],
            "calls": wide["meeting"] - wide["meeting, one call"],
        }
    )
    shares = part_seconds.div(ideal, axis=0)
    return shares.melt(ignore_index=False, var_name="part", value_name="share").reset_index()


def serial_fractions(times: pd.DataFrame, threads: int) -> dict[int, Factor]:
    """Returns Amdahl's serial fraction, by the number of boards, derived from the speed-up."""
    wide = times.pivot(index=["num_envs", "repeat"], columns="way", values="seconds")
    fraction = (wide["meeting"] / wide["alone"] - 1 / threads) / (1 - 1 / threads)
    return {boards: factor(repeats) for boards, repeats in fraction.groupby("num_envs")}


def speedups(times: pd.DataFrame) -> pd.DataFrame:
    """Returns how many times as fast as one thread the team is: `num_envs`, `speedup` (median)."""
    wide = times.pivot(index=["num_envs", "repeat"], columns="way", values="seconds")
    gain = (wide["alone"] / wide["meeting"]).rename("speedup")
    return gain.groupby("num_envs").median().reset_index()


def costs(times: pd.DataFrame) -> pd.DataFrame:
    """Returns what each repeat of `where_time_goes` says of a step's cost.

    A row per repeat: seconds of a `ply`, of the most boards, and of a `call` and a `meeting`, of
    the fewest; noise makes some of the latter negative.
    """
    wide = times.pivot(index="repeat", columns=["num_envs", "way"], values="seconds")
    few, many = times["num_envs"].min(), times["num_envs"].max()
    return pd.DataFrame(
        {
            "ply": wide[many, "alone, one call"] / many,
            "call": wide[few, "alone"] - wide[few, "alone, one call"],
            "meeting": wide[few, "meeting, one call"] - wide[few, "apart"],
        }
    )


def fit_cost(times: pd.DataFrame) -> teams.StepCost:
    """Returns the cost that `where_time_goes` found: the medians of `costs`, none below zero."""
    return teams.StepCost(**costs(times).median().clip(lower=0))


def timeline(
    num_envs: int,
    policy: Callable,
    *,
    seed: int,
    steps: int,
    asynchronous: bool,
    mask: MaskFormat = "bool",
):
    """Notes when inference and simulation ran, with an even number of boards in turn or two halves
    in flight.

    Returns a row per piece of work: `work` ("infer", "simulate"), `half`, `start`, `end` in
    seconds.
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

    Policies map observation and `bits` mask to actions. Returns a row per policy, way and repeat:
    `policy`, `way` ("in turn", "overlapping"), `repeat`, and seconds per step of all boards, the
    `whole` and what of it were `infer` and `simulate`.
    """
    modes = {"in turn": False, "overlapping": True}
    timeline_kwargs: dict[str, Any] = {"seed": seed, "steps": steps, "mask": "bits"}
    racers = {
        (name, mode): functools.partial(
            timeline, num_envs, policy, asynchronous=asynchronous, **timeline_kwargs
        )
        for name, policy in policies.items()
        for mode, asynchronous in modes.items()
    }
    rows = []
    for names, repeat, frame in timed_rounds(racers, repeats=repeats, warmup=warmup):
        took = (frame["end"] - frame["start"]).groupby(frame["work"]).sum() / steps
        rows.append((*names, repeat, frame["end"].max() / steps, took["infer"], took["simulate"]))
    return pd.DataFrame(rows, columns=["policy", "way", "repeat", "whole", "infer", "simulate"])


def _noted(rows: list, work: str, half: int, function: Callable) -> Callable:
    def noted(*arguments):
        start = time.perf_counter()
        result = function(*arguments)
        rows.append((work, half, start, time.perf_counter()))
        return result

    return noted
