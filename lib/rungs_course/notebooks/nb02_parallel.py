"""Pools of processes: their steps over time, what a process costs, and Python without its lock."""

import json
import os
import resource
import shutil
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ipywidgets
import numpy as np
import pandas as pd

from rungs import make
from rungs.devel import Workers, run_program
from rungs.devel.envs import share_ends
from rungs.errors import UnavailableError
from rungs.machine import describe
from rungs_course import paths, plots, widgets
from rungs_course.measure import over_boards
from rungs_course.measure.race import race, steps_of
from rungs_course.notebooks import nb02_workers
from rungs_course.peers.peer import Peer


def one_pool(num_envs: int, *, workers: int, transport: str, seed: int) -> float:
    """Returns how many times as fast as `python` a pool, with at most a worker per board, is,
    measured within seconds.
    """
    pool_settings: dict[str, Any] = {"workers": min(workers, num_envs), "transport": transport}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # more processes than cores may be asked for
        pool = make("chess", "multiprocessing", num_envs, **pool_settings)
    racers = {"python": make("chess", "python", num_envs), "pool": pool}
    pilot, steps = make("chess", "cpp", num_envs), steps_of(1024, num_envs)
    times = race(racers, pilot, seed=seed, steps=steps, repeats=5, warmup=1)
    pool.close()
    wide = times.pivot(index="repeat", columns="racer", values="seconds")
    return float((wide["python"] / wide["pool"]).median())


FREE_THREADED = paths.ROOT / "data" / "ablations" / "free_threaded.csv"  # as recorded
_SECONDS = 3600.0  # for all that an interpreter repeats
THREADED = ["interpreter", "lock", "threads", "repeat", "rate"]  # columns of `race_interpreters`


def free_threaded() -> str | None:
    """Returns the free-threaded Python that `make free_threaded` built, or one on the path."""
    built = paths.ROOT / "build" / "free_threaded"
    if (built / "whole").exists():
        return str(built / "bin" / "python3.13t")
    return shutil.which("python3.13t")


def race_interpreters(
    python: str, num_envs: int, threads: int, *, steps: int, repeats: int, seed: int
) -> pd.DataFrame:
    """Times Python's boards on one thread and on several, by interpreters with and without lock.

    `python` is a free-threaded interpreter, timed with its lock as well; `num_envs` counts each
    thread's boards. Returns a row per interpreter, number of threads and repeat: `interpreter` (its
    version), `lock` ("with", "without"), `threads`, `repeat`, `rate` in plies per second of all
    threads.
    """
    numbers = map(str, (num_envs, threads, steps, repeats, seed))
    command = [nb02_workers.__file__, *numbers]
    rows: list[tuple] = []
    for other, lock in ((None, "with"), (python, "with"), (python, "without")):
        gil = {"PYTHON_GIL": str(int(lock == "with"))} if other else {}
        ask = "import platform; print(platform.python_version())"
        version, timings = (_printed(arguments, other, gil) for arguments in (["-c", ask], command))
        rows += [(version.strip(), lock, *row) for row in json.loads(timings)]
    return pd.DataFrame(rows, columns=THREADED)


def _printed(arguments: list[str], other: str | None, variables: dict[str, str]) -> str:
    """Returns what a Python prints, this one or another, in which Rungs can be imported."""
    command = [sys.executable, "-P", *arguments]
    if other:
        command[0] = other
    env = os.environ | {"PYTHONPATH": str(paths.ROOT / "lib")} | variables
    done = run_program(command, _SECONDS, env=env)
    if done.returncode:
        raise UnavailableError(f"{command[0]} failed: {done.stderr.strip()}")
    return done.stdout


def draw_interpreters(times: pd.DataFrame):
    """Draws the plies per second of threads, a bar per interpreter, lock and number of threads."""
    racer = times["interpreter"] + ", " + times["lock"] + " its lock"
    team = np.where(times["threads"] > 1, times["threads"].astype(str) + " threads", "1 thread")
    named = times.assign(racer=racer, name=racer + ", " + team)
    return plots.repeats(named, "plies per second", "Python boards on Python threads")


_PROCESSES = 4  # started to be measured


def process_limits(make: Callable, *arguments) -> pd.DataFrame:
    """Starts some processes that hold what `make` makes, and computes how many this machine's
    resources allow.

    Returns a row per resource: `resource`; `each`, what a process takes of it; `limit`, what there
    is; and `environments`, how many processes that is. `attrs["seconds"]` is how long each process
    took to start.
    """
    before, start = open_files(), time.perf_counter()
    workers = Workers(make, [arguments] * _PROCESSES)
    seconds = (time.perf_counter() - start) / _PROCESSES
    files = (open_files() - before) / _PROCESSES
    memory = sum(map(own_bytes, workers.pids)) / _PROCESSES
    workers.close()
    rows = [
        ("open files of the parent", files, resource.getrlimit(resource.RLIMIT_NOFILE)[0]),
        ("processes of a user", 1, resource.getrlimit(resource.RLIMIT_NPROC)[0]),
        ("memory, bytes", memory, describe()["memory_bytes"]),
    ]
    table = pd.DataFrame(rows, columns=["resource", "each", "limit"])
    unlimited = table["limit"] == resource.RLIM_INFINITY
    table["environments"] = (table["limit"] // table["each"]).where(~unlimited)
    table.attrs["seconds"] = seconds
    return table


def open_files() -> int:
    """Returns how many files, pipes among them, this process has open."""
    return len(os.listdir("/proc/self/fd"))


def own_bytes(pid: int) -> int:
    """Returns the memory that a process shares with no other."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith("Private"))


class Pool(Peer):
    """A peer's games in processes, each with its share; actions and outputs go through pipes."""

    def __init__(self, peer: type[Peer], num_envs: int, workers: int):
        super().__init__(num_envs)
        shares = np.diff(share_ends(num_envs, workers), prepend=0).tolist()
        self._peer, self._count = peer, workers
        self._workers = Workers(peer, [(share,) for share in shares])

    def reset(self, seed: int) -> None:
        self._workers.call(self._peer.reset, [(seed + i,) for i in range(self._count)])

    def choose(self, rng: np.random.Generator) -> list:
        return self._workers.call(self._peer.choose, [(child,) for child in rng.spawn(self._count)])

    def step(self, actions: list) -> tuple:
        return tuple(self._workers.call(self._peer.step, [(share,) for share in actions]))

    def close(self) -> None:
        self._workers.close()


def play(peer: Peer, steps: int, rng: np.random.Generator) -> float:
    """Returns the seconds that `steps` steps take; choosing the actions is not timed."""
    seconds = 0.0
    for _ in range(steps):
        actions = peer.choose(rng)
        start = time.perf_counter()
        peer.step(actions)
        seconds += time.perf_counter() - start
    return seconds


def predict_processes(times: pd.DataFrame, cores: int, *, seed: int) -> ipywidgets.VBox:
    """Asks how many times as fast as one process a pool of the reader's choice is."""
    known = times[times["racer"].isin(["python", "queue", "shared"])]
    table = over_boards.gains(known, "python")

    def draw(choice, guess, gain):
        figure = plots.gains(table, "python", ideal=cores)
        (axes,) = figure.axes
        boards, look = choice["num_envs"], {"markersize": 12, "zorder": 4}
        axes.plot(boards, guess, "*", color=plots.BLACK, label="your guess", **look)
        if gain:
            axes.plot(boards, gain, "X", color=plots.RED, label="measured now", **look)
        plots.legend_beside(axes)
        axes.set_title(f"{boards} boards, {choice['workers']} processes, {choice['transport']}")
        return figure

    def measure(choice):
        return one_pool(**choice, seed=seed)

    transports = ipywidgets.ToggleButtons(options=["queue", "shared"], description="transport")
    controls = {
        "num_envs": widgets.slider([2, 8, 32, 128, 512], 32, "boards"),
        "workers": widgets.slider([1, 2, 4, 8, 16, 32], 2, "processes"),
        "transport": transports,
    }
    guess = ipywidgets.BoundedFloatText(1.0, min=0.01, max=1000, step=0.1, description="guess, ×")
    return widgets.predict_first(draw, measure, controls, guess)


# Parts of a step of all boards, for the worker that answers last.
PARTS = ("send", "wake", "step", "pickle", "pipe", "unpickle", "copy")


def timeline(notes: list[tuple]) -> pd.DataFrame:
    """Returns the notes of a pool's steps as a table, times from when each step began.

    A note is `turn` (which step), `process` ("parent", "worker 1", ...), `work` (of `PARTS` but for
    "wake", or the parent's "whole" step), `start` and `end` in seconds. Steps before turn 0 are
    left out.
    """
    frame = pd.DataFrame(notes, columns=["turn", "process", "work", "start", "end"])
    frame = frame[frame["turn"] >= 0]
    began = frame["turn"].map(frame[frame["work"] == "whole"].set_index("turn")["start"])
    return frame.assign(start=frame["start"] - began, end=frame["end"] - began)


def parts(frame: pd.DataFrame) -> pd.DataFrame:
    """Splits every step of `timeline` into parts, along the worker that answered last: the step
    waits for it.

    Returns a row per step and part: `turn`, `part` (of `PARTS`), `seconds`. Parts of a step add up
    to all of it. "wake" is from when all was sent until that worker had its actions, "pipe" from
    when its answer was pickled until the parent had it.
    """
    rows = []
    for turn, notes in frame.groupby("turn"):
        parent = notes[notes["process"] == "parent"].set_index("work")
        workers = notes[notes["process"] != "parent"]
        pickled = workers[workers["work"] == "pickle"].set_index("process")["end"]
        last = workers[workers["process"] == pickled.idxmax()].set_index("work")
        had = last.loc["step", "start"]
        sent = min(parent.loc[["send"], "end"].max(), had)  # the parent may lose its core meanwhile
        read = parent.loc[["unpickle"], "start"].max()
        unpickled = parent.loc[["copy"], "start"].max()
        moments = [0.0, sent, had, last.loc["pickle", "start"]]
        moments += [last.loc["pickle", "end"], read, unpickled, parent.loc["whole", "end"]]
        rows += [(turn, *pair) for pair in zip(PARTS, np.diff(moments), strict=True)]
    return pd.DataFrame(rows, columns=["turn", "part", "seconds"])


def unevenness(frame: pd.DataFrame) -> pd.Series:
    """Returns how much longer than the mean worker the slowest stepped, by turn, in seconds."""
    steps = frame[frame["work"] == "step"]
    took = (steps["end"] - steps["start"]).groupby(steps["turn"])
    return took.max() - took.mean()


def median_turn(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns the notes of the step whose duration is closest to the median."""
    turn_ends = frame[frame["work"] == "whole"].set_index("turn")["end"]
    middle = (turn_ends - turn_ends.median()).abs().idxmin()
    return frame[frame["turn"] == middle]


def promised(environments: int, step_seconds: float, learning: float) -> dict[str, pd.DataFrame]:
    """Returns what a step of some environments would look like, one after the other and at once, in
    seconds; rows as in `timeline`.
    """
    starts = {"one after the other": step_seconds, "all at once": 0.0}
    frames = {}
    for title, delay in starts.items():
        end = delay * (environments - 1) + step_seconds
        rows = [("agent", "learn", end, end + learning)]
        for i in range(environments):
            rows.append((f"environment {i + 1}", "step", delay * i, delay * i + step_seconds))
        frames[title] = pd.DataFrame(rows, columns=["process", "work", "start", "end"])
    return frames


# Names with which pieces of work are drawn.
_KINDS = {
    "step": "step the boards",
    "wake": "wake up",
    "pickle": "pickle and unpickle",
    "unpickle": "pickle and unpickle",
    "send": "through the pipe",
    "pipe": "through the pipe",
    "copy": "copy into place",
    "learn": "learn",
}
_COLORS = (plots.SKY, plots.BLACK, plots.ORANGE, plots.GREY, plots.BLUE)
_LOOKS = plots.fills(list(dict.fromkeys(_KINDS.values()))[:5], _COLORS)
_LOOKS["learn"] = _LOOKS["pickle and unpickle"]  # never in the same figure


def draw_timeline(frames: dict[str, pd.DataFrame], unit: str = "ms", same_scale: bool = False):
    """Draws what each process does when, a panel for each of some steps of `timeline` or
    `promised`, by title.
    """
    scale = {"ms": 1e3, "s": 1}[unit]
    heights = [1 + frame["process"].nunique() for frame in frames.values()]
    figure, axes = plots.axes(
        8.0, 0.8 + 0.36 * sum(heights), nrows=len(frames), squeeze=False, height_ratios=heights
    )
    longest = max(frame["end"].max() for frame in frames.values())
    legend_kinds: set[str] = set()
    for panel, (title, frame) in zip(axes[:, 0], frames.items(), strict=True):
        pieces = frame[frame["work"] != "whole"]
        pieces = pieces.assign(row=pieces["process"], kind=pieces["work"].map(_KINDS))
        plots.timeline_bars(panel, pieces, _LOOKS, scale)
        legend_kinds |= set(pieces["kind"])
        panel.set_xlim(0, 1.03 * scale * (longest if same_scale else frame["end"].max()))
        panel.set_title(title, fontsize=10)
    axes[-1, 0].set_xlabel({"ms": "milliseconds since the step began", "s": "seconds"}[unit])
    plots.legend_below(figure, {kind: _LOOKS[kind] for kind in _LOOKS if kind in legend_kinds}, 4)
    return figure


def draw_parts(tables: dict[str, pd.DataFrame]):
    """Draws what steps are made of, a stacked bar each, in per cent."""
    table = pd.DataFrame({name: kinds(frame) for name, frame in tables.items()}).T
    figure, axes = plots.axes(8.0, 1.8 + 0.5 * len(table))
    looks = {kind: _LOOKS[kind] for kind in table}
    totals = table.sum(axis=1)
    plots.stacked_bars(axes, 100 * table.div(totals, axis=0), looks)
    for at, seconds in enumerate(totals):
        axes.text(101, at, plots.duration(seconds), va="center")
    axes.set_xlim(0, 112)
    axes.set_xticks(range(0, 101, 20))
    axes.set_xlabel("per cent of a step, along the worker that answers last")
    plots.legend_below(figure, looks, 3)
    axes.set_title("What a step of a pool is made of")
    return figure


def kinds(table: pd.DataFrame) -> pd.Series:
    """Returns the median seconds of each kind of work, by the name that it is drawn with."""
    named = table.assign(kind=table["part"].map(_KINDS))
    medians = named.groupby(["turn", "kind"])["seconds"].sum().groupby("kind").median()
    return medians[[kind for kind in _LOOKS if kind in medians]]
