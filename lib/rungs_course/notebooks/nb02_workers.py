"""The work of other processes in studies. It imports little, as each of them imports it again."""

import json
import os
import pickle
import resource
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from multiprocessing.queues import Queue

import numpy as np

from rungs.chess import Buffers, ChessSettings, random_actions
from rungs.devel import Workers
from rungs.devel.envs import OUTPUTS, ChessEnv, PythonBoards
from rungs.errors import WorkerDiedError

# The same clock for all processes, as Linux counts from when the machine was started.
now = time.perf_counter


def play(boards: list[ChessEnv], actions: list[int]) -> tuple[list[ChessEnv], int, dict]:
    """Plays an action on each board; returns the boards, how many games ended, and all outputs."""
    out = Buffers.allocate(boards[0].settings.output_kinds(), len(boards))
    played = enumerate(zip(boards, actions, strict=True))
    ended = sum(board.step(action, None, out, i) for i, (board, action) in played)
    return boards, ended, vars(out)


def work(pipe: Connection, num_envs: int, first_board: int, seed: int) -> None:
    """Steps its boards for each message until one is None; then sends the times that it noted, and
    the CPU seconds that it used.
    """
    boards = PythonBoards(num_envs, first_board, ChessSettings())
    boards.reset(None, seed, 0)
    pipe.send(boards.buffers.save())
    notes, used_before = [], time.process_time()
    while (actions := pipe.recv()) is not None:
        received = now()
        boards.step_legal(actions.tolist())
        stepped = now()
        data = pickle.dumps({name: getattr(boards.buffers, name) for name in OUTPUTS})
        pickled = now()
        pipe.send_bytes(data)
        times = (received, stepped, pickled, now())
        notes.append(list(zip(("step", "pickle", "pipe"), times[:-1], times[1:], strict=True)))
    pipe.send((notes, time.process_time() - used_before))


def serve_board(number: int, requests: Queue, replies: Queue) -> None:
    """Serves one board by queues: a request is the board itself, an action, or "fen"; None ends the
    process.
    """
    while (request := requests.get()) is not None:
        if isinstance(request, ChessEnv):
            board = request
            out = Buffers.allocate(board.settings.output_kinds(), 1)
        elif request == "fen":
            replies.put(board.board.fen())
        else:
            replies.put((number, board.step(request, None, out, 0), vars(out)))


class Starter:
    """A process that starts others."""

    def start_until_refused(self, files: int) -> tuple[int, str]:
        """Starts processes of one board each, while this one may open a number of files; returns
        how many it started, and the error that ended it.
        """
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # a start that fails prints a traceback
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
        started: list[Workers] = []
        try:
            while True:
                started.append(Workers(PythonBoards, [(1, 0, ChessSettings())]))
        except WorkerDiedError as error:
            return len(started), str(error)
        finally:
            for workers in started:
                workers.close()


class Share:
    """A share of the boards, which plays without any messages."""

    def __init__(self, num_envs: int, first_board: int, seed: int):
        self._boards, self._seed = PythonBoards(num_envs, first_board, ChessSettings()), seed

    def play(self, steps: int) -> float:
        """Plays random games from their beginning, the same every time; returns the seconds."""
        rng = np.random.default_rng(self._seed)
        self._boards.reset(None, self._seed, 0)
        start = now()
        for _ in range(steps):
            self._boards.step_legal(random_actions(self._boards.buffers.mask, rng).tolist())
        return now() - start


def race_threads(
    num_envs: int, threads: int, *, steps: int, repeats: int, seed: int
) -> list[tuple[int, int, float]]:
    """Times threads that play a share each: one of them with `num_envs` boards, then several.

    Returns (threads, repeat, plies per second of all) for each; the first round is not counted.
    """
    rows = []
    shares = [Share(num_envs, num_envs * thread, seed) for thread in range(threads)]
    with ThreadPoolExecutor(threads) as pool:
        for repeat in range(-1, repeats):
            for count in (1, threads):
                start = now()
                list(pool.map(Share.play, shares[:count], [steps] * count))
                rows.append((count, repeat, count * steps * num_envs / (now() - start)))
    return rows[2:]


if __name__ == "__main__":  # run by another interpreter, and printed for the one that started it
    boards, threads, steps, repeats, seed = map(int, sys.argv[1:])
    timing = {"steps": steps, "repeats": repeats, "seed": seed}
    print(json.dumps(race_threads(boards, threads, **timing)))
