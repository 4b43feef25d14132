"""What studies have other processes do. It imports little, as each of them imports it anew."""

import pickle
import time
from multiprocessing.connection import Connection

from rungs._src.chess.boards.python import PythonBoards
from rungs._src.chess.buffers import OUTPUTS, Buffers
from rungs._src.chess.env import ChessEnv
from rungs._src.chess.settings import ChessSettings

_now = time.perf_counter


def play(boards: list[ChessEnv], actions: list[int]) -> tuple[list[ChessEnv], int, dict]:
    """Plays an action on each board; returns the boards, how many games ended, and all outputs."""
    out = Buffers.allocate((len(boards),), boards[0].settings)
    played = enumerate(zip(boards, actions, strict=True))
    ended = sum(board.step(action, None, out, i) for i, (board, action) in played)
    return boards, ended, vars(out)


def work(pipe: Connection, num_envs: int, first_board: int, seed: int) -> None:
    """Steps its boards for each message until that is None; then sends what it noted."""
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
