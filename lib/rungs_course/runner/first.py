"""What is printed before the chain starts: what works here, and a race of some seconds."""

import subprocess
import sys
import time

import pandas as pd

from rungs import make
from rungs._src.chess.keywords import ChessRung
from rungs._src.core.progress import Say, line, silent
from rungs._src.native import gpp
from rungs.errors import UnavailableError
from rungs_course import doctor, tables
from rungs_course.measure.race import segments
from rungs_course.plots import ratio, speed
from rungs_course.tables import ladder_table

# MPI's ranks need a separate job, and a GPU many more boards: notebook 07 races them all.
RUNGS: tuple[ChessRung, ...] = ("python", "multiprocessing", "cpp", "openmp", "threads")
# Fewer steps would time how long sleeping threads take to wake.
NUM_ENVS, STEPS, SECONDS, MIN_REPEATS = 256, 16, 5, 3
# Steps before the race, in which `threads` learns that its helper threads pay off.
WARMUP = 400


def look() -> None:
    """Prints what works here, and a race of the ladder.

    Raises:
        CompilerError: there is no g++, which most notebooks need.
        UnavailableError: something that is in every installation doesn't work.
        MismatchError: a rung's games differ from the others'.
    """
    gpp.version()  # before anything is compiled, which takes seconds
    print(doctor.identity(), flush=True)
    print(doctor.summary(), flush=True)
    print(f"\n{report(race_for(SECONDS))}\n", flush=True)


def look_aside(say: Say = line) -> None:
    """Calls `look` in a separate process, so that compiled code and MPI are unloaded afterwards.

    Args:
        say: `line`, or `silent`, with which nothing is printed.

    Raises:
        UnavailableError: it failed; the message is the last line that it printed.
    """
    command = [sys.executable, "-P", "-m", "rungs_course", "race"]
    done = subprocess.run(
        command,
        stdout=subprocess.DEVNULL if say is silent else None,
        stderr=subprocess.PIPE,
        text=True,
    )
    if done.returncode:
        printed = done.stderr.splitlines() or [
            f"{' '.join(command[2:])} ended as {done.returncode}"
        ]
        raise UnavailableError(printed[-1].removeprefix("rungs: "))


def race_for(seconds: float) -> pd.DataFrame:
    """Races `RUNGS` for about `seconds` on any machine; returns a table as `measure.race.race`."""
    racers = {rung: make("chess", rung, NUM_ENVS) for rung in RUNGS}
    pilot = make("chess", "cpp", NUM_ENVS)
    rows: list[tuple] = []
    try:
        compiled = {rung: racers[rung] for rung in ("cpp", "openmp", "threads")}
        next(segments(compiled, pilot, seed=0, steps=WARMUP))
        end = time.monotonic() + seconds
        # The first segment warms up.
        for repeat, taken in enumerate(segments(racers, pilot, seed=0, steps=STEPS), start=-1):
            if repeat >= 0:
                rows += [(name, repeat, STEPS * NUM_ENVS, taken[name]) for name in racers]
            if repeat + 1 >= MIN_REPEATS and time.monotonic() > end:
                break
    finally:
        for env in (*racers.values(), pilot):
            env.close()
    return pd.DataFrame(rows, columns=["racer", "repeat", "plies", "seconds"])


def report(times: pd.DataFrame) -> str:
    """Writes a race of the ladder for the screen, with its spread: few seconds are noisy."""
    ladder = ladder_table(times, rest_of_batch=0, num_envs=NUM_ENVS)
    table = pd.DataFrame(
        {
            "rung": ladder["rung"],
            "plies/s": ladder["plies_per_second"].map(speed),
            f"times {ladder['rung'][0]}": ladder["absolute_speedup"].map(ratio),
            "interval": list(map(tables.interval, ladder["speedup_low"], ladder["speedup_high"])),
        }
    )
    repeats = times["repeat"].nunique()
    return (
        f"{tables.aligned(table)}\n"
        f"The first plies of the same games on each rung, compared, then timed: {NUM_ENVS} boards, "
        f"{STEPS} steps,\n{repeats} times. That is short and noisy; notebook 07 races for longer, "
        "and all rungs."
    )
