"""Parallel Python: the boards of the Python rung, shared out among processes."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from rungs._src.chess.actions import NUM_ACTIONS
from rungs._src.chess.boards.boards import illegal_action
from rungs._src.chess.boards.engine import EngineBoards
from rungs._src.chess.boards.python import LAYOUT, PythonBoards, load_envs
from rungs._src.chess.buffers import OUTPUTS, POSITION
from rungs._src.chess.policy import random_actions
from rungs._src.chess.settings import ChessSettings, share_ends
from rungs._src.chess.vector_env import ChessVectorEnv
from rungs._src.core.arguments import Seed, choice, integer, seconds, seeds_of
from rungs._src.core.batch_env import stays_ended
from rungs._src.core.buffers import Buffers
from rungs._src.machine.cpu import usable_cores, warn_of_oversubscription
from rungs._src.processes.interrupt import uninterrupted
from rungs._src.processes.workers import CONTEXT, TIMEOUT, Workers

TRANSPORTS = ("queue", "shared")

# The outputs that a worker's boards wrote, by name; None where they are in shared memory.
Written = dict[str, np.ndarray] | None

MAX_WORKERS = 1024


class MultiprocessingBoards(EngineBoards):
    """Workers that own the Python rung's boards; a WorkerDiedError ends all of them."""

    def __init__(
        self,
        num_envs: int,
        first_board: int,
        settings: ChessSettings,
        *,
        workers: int | None = None,  # at most one per board; by default one per usable core
        transport: str = "queue",  # outputs pickled through a pipe, or in "shared" memory
        timeout: float | None = TIMEOUT,  # seconds of a step, after which workers are killed
    ):
        workers = usable_cores() if workers is None else workers
        self.workers = integer("workers", workers, 1, MAX_WORKERS)
        transport = choice("transport", transport, TRANSPORTS)
        timeout = seconds("timeout", timeout)
        super().__init__(num_envs, first_board, settings)
        warn_of_oversubscription("workers", self.workers)
        ends = share_ends(num_envs, min(self.workers, num_envs))
        self._shares = [slice(first, end) for first, end in zip([0, *ends[:-1]], ends, strict=True)]
        # The caller may write to outputs, so actions are checked against masks of our own.
        self._shared_outputs: Buffers | None = None
        memory: Any = None
        if transport == "shared":
            like = Buffers.like(settings.output_kinds(), num_envs)
            memory = CONTEXT.RawArray("B", like.memory_bytes())
            self._shared_outputs = like.within(memory)
            self._mask = self._shared_outputs.mask
        else:
            self._mask = np.zeros_like(self.buffers.mask)
        # Ended boards accept any action, which `mask="list"` can't express.
        self._idle = np.zeros(num_envs, np.bool_)
        common = (num_envs, first_board, settings, memory)
        shares = [(share, *common) for share in self._shares]
        self._pool = Workers(_Share, shares, timeout=timeout)

    @property
    def pids(self) -> list[int]:
        return self._pool.pids

    def reset(self, which: np.ndarray | None, seed: Seed, episode: int | None) -> None:
        parts = [
            (None if which is None else which[share], seeds_of(seed, share), episode)
            for share in self._shares
        ]
        self._change(PythonBoards.reset, parts, POSITION)
        self._idle &= False if which is None else ~which

    def step(self, actions: np.ndarray) -> int:
        actions = actions.copy()  # read once: another thread may write to it
        self._check_legal(actions)
        parts = [(actions[share].tolist(),) for share in self._shares]
        return sum(self._change(PythonBoards.step_legal, parts, tuple(OUTPUTS)))

    def open(self) -> None:
        self._change(PythonBoards.open, [()] * len(self._shares), POSITION)

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        return random_actions(self._mask, rng)

    def fen(self, board: int) -> str:
        return self._ask(PythonBoards.fen, board)

    def agent_is_black(self, board: int) -> bool:
        return self._ask(PythonBoards.agent_is_black, board)

    def layout(self) -> str:
        return LAYOUT

    def dump(self) -> bytes:
        parts = self._pool.call(PythonBoards.dump, [()] * len(self._shares))
        return json.dumps([board for part in parts for board in json.loads(part)]).encode()

    def load(self, payload: bytes, seed: Seed) -> None:
        # Checked here, as a worker that rejects its part couldn't stop the others.
        load_envs(payload, self.num_envs, self.first_board, self.settings)
        boards = json.loads(payload)
        parts = [
            (json.dumps(boards[share]).encode(), seeds_of(seed, share)) for share in self._shares
        ]
        self._change(PythonBoards.load, parts, (*POSITION, "ended"))

    def close(self) -> None:
        self._pool.close()

    def _change(self, function: Callable, arguments: list[tuple], outputs: tuple[str, ...]) -> list:
        """Calls a method that changes boards, and collects the outputs that workers wrote."""
        calls = [
            (outputs, None if self.replies is None else self.replies[share], function, *entry)
            for share, entry in zip(self._shares, arguments, strict=True)
        ]
        answers = self._pool.call(_Share.change, calls)
        for share, (_, sent) in zip(self._shares, answers, strict=True):
            if sent:
                self._mask[share] = sent["mask"]
            written = sent or {name: getattr(self._shared_outputs, name)[share] for name in outputs}
            self.buffers.rows(share).restore(written)
            if "ended" in written:
                mode = self.settings.autoreset_mode
                self._idle[share] = stays_ended(mode, written["ended"])
        return [result for result, _ in answers]

    def _ask(self, function: Callable, board: int) -> Any:
        worker = next(i for i, share in enumerate(self._shares) if board < share.stop)
        return self._pool.call_one(worker, function, board - self._shares[worker].start)

    def _check_legal(self, actions: np.ndarray) -> None:
        """Checks actions here, as a worker that found an illegal one couldn't stop the others."""
        legal = np.zeros(self.num_envs, np.bool_)
        inside = np.flatnonzero((actions >= 0) & (actions < NUM_ACTIONS))
        mask, chosen = self._mask, actions[inside]
        if self.settings.mask == "bool":
            legal[inside] = mask[inside, chosen]
        elif self.settings.mask == "list":
            legal[inside] = (mask[inside] == chosen[:, None]).any(axis=1) | self._idle[inside]
        else:
            bits = mask[inside, chosen // 64] >> (chosen % 64).astype(np.uint64)
            legal[inside] = bits & np.uint64(1)
        if not legal.all():
            board = int(np.argmin(legal))
            raise illegal_action(self, board, int(actions[board]))


class MultiprocessingChessEnv(ChessVectorEnv[np.ndarray]):
    """The environment of `MultiprocessingBoards`: Ctrl-C waits until it has workers' outputs."""

    def reset(self, **arguments: Any) -> tuple[np.ndarray, dict[str, Any]]:
        with uninterrupted():
            return super().reset(**arguments)

    def step(self, *arguments: Any, **named: Any) -> Any:
        with uninterrupted():
            return super().step(*arguments, **named)


class _Share(PythonBoards):
    """A worker's boards; `change` also returns what they wrote, unless memory is shared."""

    def __init__(
        self, share: slice, num_envs: int, first_board: int, settings: ChessSettings, memory: Any
    ):
        super().__init__(share.stop - share.start, first_board + share.start, settings)
        self._is_shared = memory is not None
        if self._is_shared:
            all_outputs = Buffers.like(settings.output_kinds(), num_envs).within(memory)
            self.write_to(all_outputs.rows(share))

    def change(
        self,
        outputs: tuple[str, ...],
        replies: np.ndarray | None,
        function: Callable,
        *arguments: Any,
    ) -> tuple[Any, Written]:
        """Calls a method that changes boards; returns its result and the outputs that it wrote."""
        if replies is not None:
            assert self.replies is not None  # an engine plays
            self.replies[:] = replies
        result = function(self, *arguments)
        if self._is_shared:
            return result, None
        return result, {name: getattr(self.buffers, name) for name in outputs}
