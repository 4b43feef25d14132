"""Boards of Python shared out to threads and processes: races, and what a process costs."""

import functools
import os
import resource
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import ipywidgets
import joblib
import numpy as np
import pandas as pd
import seaborn as sns

from rungs._src.chess.boards.python import PythonBoards
from rungs._src.chess.settings import ChessSettings, share_ends
from rungs._src.chess.vector_env import ChessVectorEnv
from rungs._src.machine.cpu import usable_cores
from rungs._src.machine.describe import describe
from rungs._src.processes.workers import Workers
from rungs._src.registry import make
from rungs_course import nb02_workers, plots
from rungs_course.measure import over_boards
from rungs_course.measure.race import race, steps_of
from rungs_course.measure.turns import timed_rounds
from rungs_course.peers.open_spiel import OpenSpielStates
from rungs_course.peers.peer import Peer
from rungs_course.widgets import predict_first

# What each way is called in a race; the first is what the others are compared with.
WAYS = ("python", "Python threads", "queue", "shared", "a process each", "joblib")


class ThreadedBoards(PythonBoards):
    """The Python rung's boards, shared out among threads of this process."""

    def __init__(self, num_envs: int, first_board: int, settings: ChessSettings, *, threads: int):
        super().__init__(num_envs, first_board, settings)
        self._shares = _shares(num_envs, threads)
        self._threads = ThreadPoolExecutor(threads)

    def step_legal(self, actions: list[int]) -> int:
        def play(share: slice) -> int:
            boards = range(share.start, share.stop)
            return sum(self._envs[i].step(actions[i], None, self.buffers, i) for i in boards)

        return sum(self._threads.map(play, self._shares))

    def close(self) -> None:
        self._threads.shutdown()


class JoblibBoards(PythonBoards):
    """The Python rung's boards, which joblib sends to processes and back, at every step."""

    def __init__(self, num_envs: int, first_board: int, settings: ChessSettings, *, workers: int):
        super().__init__(num_envs, first_board, settings)
        self._shares = _shares(num_envs, workers)
        self._parallel = joblib.Parallel(workers).__enter__()

    def step_legal(self, actions: list[int]) -> int:
        play = joblib.delayed(nb02_workers.play)
        played = self._parallel(play(self._envs[share], actions[share]) for share in self._shares)
        for share, (boards, _, written) in zip(self._shares, played, strict=True):
            self._envs[share] = boards
            self.buffers.rows(share).restore(written)
        return sum(ended for _, ended, _ in played)

    def close(self) -> None:
        self._parallel.__exit__(None, None, None)


def _shares(num_envs: int, number: int) -> list[slice]:
    ends = share_ends(num_envs, min(number, num_envs))
    return [slice(first, end) for first, end in pairwise([0, *ends])]


def shared_out(way: str, num_envs: int) -> ChessVectorEnv:
    """Makes an environment of Python's boards that are shared out in one of `WAYS`.

    Each has as many threads or processes as there are cores, but for "python", which has one, and
    "a process each", which has one for each board.
    """
    cores = usable_cores()
    if way == "python":
        return make("chess", "python", num_envs)
    if way == "Python threads":
        return ChessVectorEnv(num_envs, ThreadedBoards, threads=cores)
    if way == "joblib":
        return ChessVectorEnv(num_envs, JoblibBoards, workers=cores)
    how: dict[str, Any] = {"transport": "queue", "workers": min(cores, num_envs)}
    of_way: dict[str, dict] = {
        "shared": {"transport": way},
        "a process each": {"workers": num_envs},
    }
    how |= of_way.get(way, {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a process each is meant to be too many
        return make("chess", "multiprocessing", num_envs, **how)


def race_ways(
    most: dict[str, int], board_counts, *, plies: int, most_steps: int, **settings
) -> pd.DataFrame:
    """Races ways to share boards out, over the same games.

    Args:
        most: by way, the most boards it is raced with.
        board_counts: numbers of boards.
        plies: per segment, of all boards.
        most_steps: the largest number of steps in a segment.
        **settings: of `rungs_course.measure.race.race`, but for `steps`.

    Returns:
        The rows of `race` with `num_envs` beside.
    """
    frames = []
    for num_envs in board_counts:
        envs = {way: shared_out(way, num_envs) for way, limit in most.items() if num_envs <= limit}
        pilot, steps = make("chess", "cpp", num_envs), min(most_steps, steps_of(plies, num_envs))
        frames.append(race(envs, pilot, steps=steps, **settings).assign(num_envs=num_envs))
        for env in envs.values():
            env.close()
    return pd.concat(frames, ignore_index=True)


def one_pool(num_envs: int, *, workers: int, transport: str, seed: int) -> float:
    """Makes a single measurement, for someone who waits: how many times as fast as `python`.

    Args:
        num_envs: number of boards.
        workers: number of processes, of which no more are started than there are boards.
        transport: "queue" or "shared".
        seed: of the games.
    """
    how = {"workers": min(workers, num_envs), "transport": transport}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the reader has asked for so many
        pool = make("chess", "multiprocessing", num_envs, **how)
    racers = {"python": make("chess", "python", num_envs), "pool": pool}
    effort: dict[str, Any] = {
        "seed": seed,
        "steps": steps_of(1024, num_envs),
        "repeats": 5,
        "warmup": 1,
    }
    times = race(racers, make("chess", "cpp", num_envs), **effort)
    pool.close()
    wide = times.pivot(index="repeat", columns="racer", values="seconds")
    return float((wide["python"] / wide["pool"]).median())


def price_of_workers(workers: int) -> dict[str, float]:
    """Starts a pool with a board for each worker, and says what one worker takes.

    Returns:
        `seconds` to start it, `descriptors` that it takes in this process, and `bytes` of memory of
        its own.
    """
    before, start = open_files(), time.perf_counter()
    env = shared_out("a process each", workers)
    taken = time.perf_counter() - start
    pids = env.boards.pids  # type: ignore[attr-defined]  # this rung's
    price = {
        "seconds": taken / workers,
        "descriptors": (open_files() - before) / workers,
        "bytes": sum(map(own_bytes, pids)) / workers,
    }
    env.close()
    return price


def most_descriptors() -> int:
    """Returns how many files, pipes among them, this process may have open at a time."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


_PROCESSES = 2  # started to be looked at


def process_limits(make: Callable, *arguments) -> pd.DataFrame:
    """Starts some processes, and reckons what one of them takes of what there is.

    Args:
        make: makes what a process holds.
        *arguments: of `make`.

    Returns:
        A row per resource: `resource`; `each`, what a process takes of it; `limit`, what there is;
        and `environments`, how many processes that is.
    """
    before = open_files()
    workers = Workers(make, [arguments] * _PROCESSES)
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
    return table


def open_files() -> int:
    """Returns how many files, pipes among them, this process has open."""
    return len(os.listdir("/proc/self/fd"))


def own_bytes(pid: int) -> int:
    """Returns the memory that a process shares with no other."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith("Private"))


class Pool(Peer):
    """A peer's games in processes, each with its share; actions and outputs go through pipes.

    Args:
        make: makes the peer of some games, in its process; can be pickled.
        num_envs: how many games in all.
        workers: how many processes.
    """

    def __init__(self, make: Callable[[int], Peer], num_envs: int, workers: int):
        super().__init__(num_envs)
        shares = np.diff(share_ends(num_envs, workers), prepend=0).tolist()
        self._workers = Workers(make, [(share,) for share in shares])
        self._count = workers

    def reset(self, seed: int) -> None:
        self._workers.call(_reset, [(seed + i,) for i in range(self._count)])

    def choose(self, rng: np.random.Generator) -> list:
        return self._workers.call(_choose, [(own,) for own in rng.spawn(self._count)])

    def step(self, actions: list) -> tuple:
        return tuple(self._workers.call(_step, [(share,) for share in actions]))

    def close(self) -> None:
        self._workers.close()


def _reset(peer: Peer, seed: int) -> None:
    peer.reset(seed)


def _choose(peer: Peer, rng: np.random.Generator) -> Any:
    return peer.choose(rng)


def _step(peer: Peer, actions: Any) -> Any:
    return peer.step(actions)


def race_open_spiel(
    board_counts,
    *,
    plies: int,
    most_steps: int,
    most_each: int,
    seed: int,
    repeats: int,
    warmup: int,
) -> pd.DataFrame:
    """Races OpenSpiel in one process against pools of processes.

    All play at random, and as many steps as the others: games equally old, if not the same.

    Args:
        board_counts: numbers of games.
        plies: timed per segment, of all games.
        most_steps: the largest number of steps in a segment.
        most_each: the most games that get a process each.
        seed: of the games.
        repeats: segments timed.
        warmup: segments played first.

    Returns:
        A row per racer, number of games and segment: `racer` ("python" is the one process of
        Python that steps all of them), `num_envs`, `repeat`, `plies`, `seconds`.

    Raises:
        UnavailableError: OpenSpiel is not installed.
    """
    rows: list[tuple] = []
    for num_envs in board_counts:
        workers = {"queue": min(usable_cores(), num_envs)}
        if num_envs <= most_each:
            workers["a process each"] = num_envs
        peers: dict[str, Peer] = {"python": OpenSpielStates(num_envs)}
        peers |= {name: Pool(OpenSpielStates, num_envs, count) for name, count in workers.items()}
        steps = min(most_steps, max(1, plies // num_envs))
        rng = np.random.default_rng(seed)
        for peer in peers.values():
            peer.reset(seed)
        racers = {name: functools.partial(_play, peer, steps, rng) for name, peer in peers.items()}
        rows += [
            (name, num_envs, repeat, steps * num_envs, seconds)
            for name, repeat, seconds in timed_rounds(racers, repeats=repeats, warmup=warmup)
        ]
        for peer in peers.values():
            peer.close()
    return pd.DataFrame(rows, columns=["racer", "num_envs", "repeat", "plies", "seconds"])


def _play(peer: Peer, steps: int, rng: np.random.Generator) -> float:
    """Returns the seconds that `steps` steps take; choosing the actions is not timed."""
    seconds = 0.0
    for _ in range(steps):
        actions = peer.choose(rng)
        start = time.perf_counter()
        peer.step(actions)
        seconds += time.perf_counter() - start
    return seconds


def draw_ways(times: pd.DataFrame, chosen: tuple[str, ...], title: str, cores: int):
    """Draws how many times as fast as one process each way is, every repeat a dot.

    Args:
        times: of `rungs_course.nb02_parallel.race_ways`, or rows like it with "python" among
            racers.
        chosen: the ways to draw, in order; those that the table has.
        title: the figure's.
        cores: how many there are, drawn as the most that could be hoped for.
    """
    wide = times.pivot(index=["num_envs", "repeat"], columns="racer", values="seconds")
    chosen = tuple(way for way in chosen if way in wide)
    ratios = wide.rdiv(wide["python"], axis=0)[[*chosen]]
    long = ratios.melt(ignore_index=False, var_name="way", value_name="gain").reset_index()
    figure, axes = plots.axes(8.0, 3.8)
    look = {"hue": "way", "hue_order": chosen, "dodge": True, "ax": axes, "legend": False}
    palette = [plots.BLUE, plots.ORANGE, plots.SKY, plots.GREY][: len(chosen)]
    sns.stripplot(long, x="num_envs", y="gain", palette=palette, alpha=0.5, size=4, **look)
    look |= {"legend": True, "dodge": 0.8 - 0.8 / len(chosen), "linestyle": "none"}
    markers = ["o", "s", "^", "D"][: len(chosen)]
    sns.pointplot(
        long, x="num_envs", y="gain", palette=palette, markers=markers, errorbar=None,
        estimator="median", markersize=7, **look,
    )  # fmt: skip
    axes.axhline(1, color=plots.BLACK, linewidth=1)
    axes.axhline(cores, color=plots.BLACK, linewidth=1, linestyle="--")
    axes.text(-0.45, cores, f"a loop on each of {cores} cores", va="bottom", fontsize="small")
    axes.set_ylim(0, None)
    axes.set_xlabel("boards")
    axes.set_ylabel("times as fast as one process")
    axes.grid(axis="y", color="#EEEEEE")
    sns.move_legend(
        axes, "upper center", bbox_to_anchor=(0.5, -0.18), ncols=4, title=None, frameon=False
    )
    axes.set_title(title)
    return figure


def predict_processes(times: pd.DataFrame, cores: int, *, seed: int) -> ipywidgets.VBox:
    """Asks how many times as fast as one process a pool of the reader's choice is.

    Args:
        times: of `rungs_course.nb02_parallel.race_ways`; its "queue" and "shared" are drawn.
        cores: how many there are.
        seed: of the games.
    """
    known = times[times["racer"].isin(["python", "queue", "shared"])]
    table = over_boards.gains(known, "python")

    def draw(choice, guess, gain):
        figure = plots.gains(table, "python", ideal=cores)
        (axes,) = figure.axes
        look = {"markersize": 12, "linestyle": "none", "zorder": 4}
        boards = choice["num_envs"]
        axes.plot(boards, guess, "*", color=plots.BLACK, label="your guess", **look)
        if gain:
            axes.plot(boards, gain, "X", color="#D55E00", label="measured now", **look)
        plots.legend_beside(axes)
        axes.set_title(f"{boards} boards, {choice['workers']} processes, {choice['transport']}")
        return figure

    def measure(choice):
        return one_pool(**choice, seed=seed)

    controls = {
        "num_envs": ipywidgets.SelectionSlider(
            options=[2, 8, 32, 128, 512], value=32, description="boards"
        ),
        "workers": ipywidgets.SelectionSlider(
            options=[1, 2, 4, 8, 16, 32], value=2, description="processes"
        ),
        "transport": ipywidgets.ToggleButtons(options=["queue", "shared"], description="transport"),
    }
    guess = ipywidgets.BoundedFloatText(1.0, min=0.01, max=1000, step=0.1, description="guess, ×")
    return predict_first(draw, measure, controls, guess)
