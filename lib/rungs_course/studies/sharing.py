"""Ways to share the boards of Python out, to threads and processes, raced over the same games."""

import resource
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import joblib
import pandas as pd

from rungs._src.chess.boards.python import PythonBoards
from rungs._src.chess.settings import ChessSettings, share_ends
from rungs._src.chess.vector_env import ChessVectorEnv
from rungs._src.machine.cpu import usable_cores
from rungs._src.registry import make
from rungs_course.measure.race import race, steps_of
from rungs_course.studies import served
from rungs_course.studies.process_limits import open_files, own_bytes

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
        play = joblib.delayed(served.play)
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
        most_steps: in which no more steps are played than so many.
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
