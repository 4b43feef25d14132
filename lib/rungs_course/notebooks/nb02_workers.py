"""The work of other processes in studies. It imports little, as each of them imports it again."""

import json
import pickle
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from multiprocessing.queues import Queue

import numpy as np

from rungs.chess import Buffers, ChessSettings, random_actions
from rungs.devel.envs import OUTPUTS, ChessEnv, PythonBoards

_now = time.perf_counter


def play(boards: list[ChessEnv], actions: list[int]) -> tuple[list[ChessEnv], int, dict]:
    """Plays an action on each board; returns the boards, how many games ended, and all outputs."""
    out = Buffers.allocate(boards[0].settings.output_kinds(), len(boards))
    played = enumerate(zip(boards, actions, strict=True))
    ended = sum(board.step(action, None, out, i) for i, (board, action) in played)
    return boards, ended, vars(out)


def work(pipe: Connection, num_envs: int, first_board: int, seed: int) -> None:
    """Steps its boards for each message until one is None; then sends the times it noted."""
    boards = PythonBoards(num_envs, first_board, ChessSettings())
    boards.reset(None, seed, 0)
    pipe.send(boards.buffers.save())
    notes = []
    while (actions := pipe.recv()) is not None:
        received = _now()
        boards.step_legal(actions.tolist())
        stepped = _now()
        data = pickle.dumps({name: getattr(boards.buffers, name) for name in OUTPUTS})
        pickled = _now()
        pipe.send_bytes(data)
        times = (received, stepped, pickled, _now())
        notes.append(list(zip(("step", "pickle", "pipe"), times[:-1], times[1:], strict=True)))
    pipe.send(notes)


def echo_by_pipe(pipe: Connection) -> None:
    """Sends every message back, until one is None."""
    while (message := pipe.recv()) is not None:
        pipe.send(message)


def echo_by_queues(requests: Queue, replies: Queue) -> None:
    """Sends every message back from one queue to another, as the study's processes did."""
    while (message := requests.get()) is not None:
        replies.put(message)


class Share:
    """A share of the boards, which plays without any messages."""

    def __init__(self, num_envs: int, first_board: int, seed: int):
        self._boards, self._seed = PythonBoards(num_envs, first_board, ChessSettings()), seed

    def play(self, steps: int) -> float:
        """Plays random games from their beginning, the same every time; returns the seconds."""
        rng = np.random.default_rng(self._seed)
        self._boards.reset(None, self._seed, 0)
        start = _now()
        for _ in range(steps):
            self._boards.step_legal(random_actions(self._boards.buffers.mask, rng).tolist())
        return _now() - start


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
                start = _now()
                list(pool.map(Share.play, shares[:count], [steps] * count))
                rows.append((count, repeat, count * steps * num_envs / (_now() - start)))
    return rows[2:]


if __name__ == "__main__":  # run by another interpreter, and printed for the one that started it
    boards, threads, steps, repeats, seed = map(int, sys.argv[1:])
    timing = {"steps": steps, "repeats": repeats, "seed": seed}
    print(json.dumps(race_threads(boards, threads, **timing)))
