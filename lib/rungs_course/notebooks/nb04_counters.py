"""Threads that do hardly anything but share: counters, uneven loops, and the cores they run on."""

import contextlib
import functools
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from rungs.devel import loader, openmp
from rungs.devel.envs import SCHEDULES as _SCHEDULES
from rungs.errors import MismatchError, UnavailableError
from rungs.machine import usable_cores
from rungs.memory import zeroed_lines
from rungs_course import compiled, teams
from rungs_course.measure.race import steps_of
from rungs_course.measure.turns import timed_rounds
from rungs_course.notebooks import nb04_openmp

STRIDES = (8, 16, 32, 64, 128, 256)  # bytes from a thread's counter to the next thread's

# Ways to share out a loop: OpenMP's schedule, and how many iterations a thread gets at a time (0:
# one even run per thread).
SCHEDULES = {
    "static": ("static", 0),
    "static, 1": ("static", 1),
    "dynamic, 1": ("dynamic", 1),
    "dynamic, 64": ("dynamic", 64),
    "guided": ("guided", 1),
}


def pin_refusal() -> str | None:
    """Returns why threads can't be pinned to cores here; None where they can."""
    if not hasattr(os, "sched_setaffinity"):
        return "this system has no sched_setaffinity"
    if usable_cores() < 2:
        return "this process may use one core only"
    try:
        os.sched_setaffinity(0, os.sched_getaffinity(0))
    except OSError as error:
        return f"sched_setaffinity is refused: {error.strerror}"
    return None


@contextlib.contextmanager
def pinned(threads: int) -> Iterator[None]:
    """Pins each thread of OpenMP's team to a core of its own, as far as there are enough."""
    if refusal := pin_refusal():
        raise UnavailableError(f"threads can't be pinned: {refusal}")
    cores = sorted(os.sched_getaffinity(0))
    core_lists = [[cores[thread % len(cores)]] for thread in range(threads)]
    try:
        _pin(core_lists)
        yield
    finally:
        _pin([cores] * threads)


def _pin(cores: Sequence[Sequence[int]]) -> None:
    openmp.team(loader.load(), len(cores))
    rows = np.array(cores, np.int32)
    if refused := compiled.load_course().rungs_counters_pin(rows, rows.shape[1], len(rows)):
        raise UnavailableError(f"threads can't be pinned: {refused} of {len(rows)} were refused")


def race_counters(
    strides: Iterable[int], threads: int, *, times: int, repeats: int, warmup: int
) -> pd.DataFrame:
    """Times threads that increment a counter each, `times` times, with strides of several bytes
    (multiples of eight).

    Returns a row per stride, way and repeat: `stride`, `way`, `repeat`, and `seconds` of an
    increment. Ways: "one thread", the control; "free", threads that run where the system puts them;
    and where they can be pinned, "pinned".
    """
    openmp.team(loader.load(), threads)
    placements: dict[str, tuple[int, Any]] = {
        "one thread": (1, contextlib.nullcontext),
        "free": (threads, contextlib.nullcontext),
    }
    if not pin_refusal():
        placements["pinned"] = (threads, functools.partial(pinned, threads))
    racers = {
        (stride, placement): functools.partial(_count, stride, *team_and_context, times)
        for stride in strides
        for placement, team_and_context in placements.items()
    }
    rows = [
        (*name, repeat, seconds)
        for name, repeat, seconds in timed_rounds(racers, repeats=repeats, warmup=warmup)
    ]
    return pd.DataFrame(rows, columns=["stride", "way", "repeat", "seconds"])


def _count(stride: int, threads: int, context: Any, times: int) -> float:
    """Returns the seconds of an increment by `threads` threads in `context`."""
    memory = zeroed_lines(stride * threads)
    with context():
        seconds = compiled.load_course().rungs_counters_count(
            memory.ctypes.data, stride, times, threads
        )
    if set(memory.view(np.int64)[:: stride // 8].tolist()) != {times}:
        raise MismatchError(f"counters {stride} bytes apart lost increments")
    return seconds / times


def works(iterations: int, total: int) -> dict[str, np.ndarray]:
    """Returns how much each iteration of two loops does, int64: all the same, or more and more;
    `total` is about a loop's sum.
    """
    growing = np.arange(iterations, dtype=np.int64) * (2 * total // iterations) // iterations
    return {"even": np.full(iterations, total // iterations), "growing": growing}


def race_schedules(
    loops: Mapping[str, np.ndarray], threads: int, *, repeats: int, warmup: int
) -> pd.DataFrame:
    """Times loops that OpenMP shares out by each of `SCHEDULES`, and on one thread.

    Returns a row per loop, schedule and repeat: `loop`, `schedule`, `repeat`, and `share`: by how
    much the loop took longer than its even share, one thread's time over their number.
    """
    openmp.team(loader.load(), threads)
    call, rows = compiled.load_course().rungs_counters_loop, []
    for name, work in loops.items():
        expected = call(work, len(work), 0, 0, 1)

        def seconds(schedule, chunk, team, work=work, expected=expected):
            start = time.perf_counter()
            total = call(work, len(work), _SCHEDULES.index(schedule), chunk, team)
            taken = time.perf_counter() - start
            if total != expected:
                raise MismatchError(f"{schedule}, {chunk}: its sum differs from one thread's")
            return taken

        racers = {
            key: functools.partial(seconds, *schedule_args, threads)
            for key, schedule_args in SCHEDULES.items()
        }
        racers["one thread"] = functools.partial(seconds, "static", 0, 1)
        rows += [
            (name, schedule, repeat, taken)
            for schedule, repeat, taken in timed_rounds(racers, repeats=repeats, warmup=warmup)
        ]
    times = pd.DataFrame(rows, columns=["loop", "schedule", "repeat", "seconds"])
    one = times[times["schedule"] == "one thread"].set_index(["loop", "repeat"])["seconds"]
    team = times[times["schedule"] != "one thread"].set_index(["loop", "repeat"])
    share = team["seconds"] * threads / one.reindex(team.index) - 1
    return team.assign(share=share).drop(columns="seconds").reset_index()


def race_barriers(
    board_counts: Iterable[int], threads: int, *, plies: int, repeats: int, warmup: int, seed: int
) -> pd.DataFrame:
    """Times steps with one barrier and with two, of threads that are free and that are pinned.

    Returns a row per number of boards, repeat, way ("one barrier", "two barriers") and place
    ("free", and where threads can be pinned "pinned"): `num_envs`, `repeat`, `way`, `place`, and
    `seconds` of a step.
    """
    places: dict[str, Any] = {"free": contextlib.nullcontext}
    if not pin_refusal():
        places["pinned"] = functools.partial(pinned, threads)
    rows = []
    for num_envs in board_counts:
        games = nb04_openmp.random_games(num_envs, 2 * steps_of(plies, num_envs), seed)
        racers = {}
        for barriers in ("one barrier", "two barriers"):
            env = teams.make(barriers, num_envs, threads)
            env.reset(seed=seed)
            for place, context in places.items():
                racers[barriers, place] = functools.partial(_step, context, env.boards, games)
        rows += [
            (num_envs, repeat, *name, seconds)
            for name, repeat, seconds in timed_rounds(racers, repeats=repeats, warmup=warmup)
        ]
    return pd.DataFrame(rows, columns=["num_envs", "repeat", "way", "place", "seconds"])


def _step(context: Any, boards: Any, games: tuple) -> float:
    with context():
        return nb04_openmp.seconds_of_games(boards, boards.play, False, *games)
