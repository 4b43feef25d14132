"""Parallel Python: the boards of the Python rung, shared out among processes."""

import json

import numpy as np

from rungs.arguments import choice, integer
from rungs.chess.actions import NUM_ACTIONS
from rungs.chess.buffers import Buffers
from rungs.chess.python import PythonChessEnv
from rungs.chess.settings import share_ends
from rungs.chess.vector_env import ChessVectorEnv
from rungs.interrupt import uninterrupted
from rungs.machine.cpu import usable_cores, warn_of_oversubscription
from rungs.workers import CONTEXT, Workers

TRANSPORTS = ("queue", "shared")

MOST_WORKERS = 1024


class MultiprocessChessEnv(ChessVectorEnv):
    """See `ChessVectorEnv` for arguments and outputs; these change time and nothing else.

    Args:
        num_envs: number of boards.
        workers: number of processes, each with its share of the boards; by default as many as there
            are cores to use. More than there are cores are allowed, with a warning; no more are
            started than there are boards.
        transport: how outputs come back. "queue": pickled, through the worker's pipe. "shared":
            written to memory that all processes see, and the pipe says only when.

    Raises:
        WorkerDiedError: a worker died or raised, then or in any later call; the message names it.
            No process is left, and the environment is of no more use.
    """

    def __init__(
        self,
        num_envs: int,
        *,
        workers: int | None = None,
        transport: str = "queue",
        **settings,
    ):
        workers = usable_cores() if workers is None else workers
        self.workers = integer("workers", workers, 1, MOST_WORKERS)
        choice("transport", transport, TRANSPORTS)
        super().__init__(num_envs, **settings)
        warn_of_oversubscription("workers", self.workers)
        count = min(self.workers, self.num_envs)
        ends = share_ends(self.num_envs, count)
        self._shares = [slice(first, end) for first, end in zip([0, *ends[:-1]], ends, strict=True)]
        # What workers report, apart from what the caller gets and may write to.
        shared = transport == "shared"
        memory = CONTEXT.RawArray("B", self._buffers.memory_bytes()) if shared else None
        formats = (self.settings.obs, self.settings.mask)
        like = Buffers.like((self.num_envs,), *formats)
        self._reported = (
            like.within(memory) if shared else Buffers.allocate((self.num_envs,), *formats)
        )
        common = (settings, self.num_envs, memory)
        self._pool = Workers(_Share, [(share, *common) for share in self._shares])

    def reset(self, **options):
        """See `ChessVectorEnv.reset`. Ctrl-C waits for it, so that no board is ahead of others."""
        with uninterrupted():
            return super().reset(**options)

    def step(self, actions, out: Buffers | None = None):
        """See `ChessVectorEnv.step`. Ctrl-C waits for it, so that no board is ahead of others."""
        with uninterrupted():
            return super().step(actions, out)

    def close_extras(self, **kwargs) -> None:
        """Stops the workers (called by `close`)."""
        super().close_extras(**kwargs)
        self._pool.close()

    def _reset(self, which: np.ndarray | None, episode: int | None) -> None:
        marks = [None if which is None else which[share] for share in self._shares]
        self._call("reset", [(self._seed, mark, episode) for mark in marks])

    def _step(self, actions: np.ndarray, replies: np.ndarray | None) -> int:
        self._check_legal(actions)
        answers = [None if replies is None else replies[share] for share in self._shares]
        chosen = [actions[share] for share in self._shares]
        return sum(self._call("step", list(zip(chosen, answers, strict=True))))

    def _begin_with(self, replies: np.ndarray) -> None:
        self._call("begin_with", [(replies[share],) for share in self._shares])

    def _fen(self, board: int) -> str:
        return self._ask("fen", board)

    def _episode(self, board: int) -> int:
        return self._ask("episode", board)

    def _layout(self) -> str:
        return PythonChessEnv.LAYOUT

    def _dump(self) -> bytes:
        parts = self._pool.call("dump", [()] * len(self._shares))
        return json.dumps([board for part in parts for board in json.loads(part)]).encode()

    def _load(self, payload: bytes) -> None:
        boards = json.loads(payload)
        parts = [json.dumps(boards[share]).encode() for share in self._shares]
        self._call("load", [(self._seed, part) for part in parts])

    def _call(self, method: str, arguments: list[tuple]) -> list:
        """Calls a method that changes boards, and takes in what workers report."""
        results = []
        for share, (result, rows) in zip(
            self._shares, self._pool.call(method, arguments), strict=True
        ):
            if rows is not None:
                self._reported.rows(share).restore(rows)
            results.append(result)
        self._buffers.restore(vars(self._reported))
        return results

    def _ask(self, method: str, board: int):
        worker = next(i for i, share in enumerate(self._shares) if board < share.stop)
        return self._pool.call_one(worker, method, board - self._shares[worker].start)

    def _check_legal(self, actions: np.ndarray) -> None:
        """Here, as a worker that found an illegal action couldn't stop the others."""
        legal = np.zeros(self.num_envs, np.bool_)
        inside = np.flatnonzero((actions >= 0) & (actions < NUM_ACTIONS))
        mask, chosen = self._reported.mask, actions[inside]
        if mask.dtype == np.bool_:
            legal[inside] = mask[inside, chosen]
        else:
            bits = mask[inside, chosen // 64] >> (chosen % 64).astype(np.uint64)
            legal[inside] = bits & np.uint64(1)
        if not legal.all():
            board = int(np.argmin(legal))
            raise self._illegal(board, int(actions[board]), self._fen(board))


class _Share:
    """A worker's boards."""

    def __init__(self, share: slice, settings: dict, num_envs: int, memory):
        first_board = settings.get("first_board", 0) + share.start
        self._env = PythonChessEnv(
            share.stop - share.start, **(settings | {"first_board": first_board})
        )
        self._memory = memory
        if memory is not None:
            formats = (self._env.settings.obs, self._env.settings.mask)
            self._env._buffers = Buffers.like((num_envs,), *formats).within(memory).rows(share)

    def reset(self, seed: int, which, episode: int | None):
        self._env._seed = seed
        self._env._buffers.reason.fill(0)
        self._env._buffers.ended[slice(None) if which is None else which] = False
        self._env._reset(which, episode)
        return None, self._rows()

    def step(self, actions, replies):
        return self._env._step(actions, replies), self._rows()

    def begin_with(self, replies):
        self._env._begin_with(replies)
        return None, self._rows()

    def load(self, seed: int, payload: bytes):
        self._env._seed = seed
        self._env._buffers.reason.fill(0)
        self._env._load(payload)
        return None, self._rows()

    def fen(self, board: int) -> str:
        return self._env._fen(board)

    def episode(self, board: int) -> int:
        return self._env._episode(board)

    def dump(self) -> bytes:
        return self._env._dump()

    def _rows(self) -> dict | None:
        """What goes through the pipe: all outputs, or nothing where they are seen anyway."""
        return vars(self._env._buffers) if self._memory is None else None
