"""Boards that are another rung's, but for what a class derived from this says."""

from typing import Any

import numpy as np

from rungs._src.chess.boards.boards import Boards
from rungs._src.chess.buffers import Buffers


class WrappedBoards(Boards):
    """Passes everything on.

    Args:
        boards: whose boards they are.
    """

    def __init__(self, boards: Boards):
        self.wrapped, self.device, self.validate = boards, boards.device, boards.validate
        self.elsewhere = boards.elsewhere
        self.num_envs, self.first_board = boards.num_envs, boards.first_board
        self.settings, self.replies = boards.settings, boards.replies

    @property
    def buffers(self) -> Buffers:  # type: ignore[override]  # only `write_to` sets it
        return self.wrapped.buffers

    def allocate(self, *boards: int) -> Buffers:
        return self.wrapped.allocate(*boards)

    def write_to(self, buffers: Buffers) -> None:
        self.wrapped.write_to(buffers)

    def reset(self, which: np.ndarray | None, seed: int, episode: int | None) -> None:
        self.wrapped.reset(which, seed, episode)

    def step(self, actions: np.ndarray) -> int | None:
        return self.wrapped.step(actions)

    def steps_at_once(self) -> int:
        return self.wrapped.steps_at_once()

    def step_many(self, steps: int) -> int:
        return self.wrapped.step_many(steps)

    def open(self) -> None:
        self.wrapped.open()

    def fen(self, board: int) -> str:
        return self.wrapped.fen(board)

    def fens(self) -> list[str]:
        return self.wrapped.fens()

    def agent_is_black(self, board: int) -> bool:
        return self.wrapped.agent_is_black(board)

    def layout(self) -> str:
        return self.wrapped.layout()

    def dump(self) -> bytes:
        return self.wrapped.dump()

    def load(self, payload: bytes, seed: int) -> None:
        self.wrapped.load(payload, seed)

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        return self.wrapped.sample(rng)

    def save(self, which: np.ndarray) -> Any:
        return self.wrapped.save(which)

    def put(self, saved: Any, which: np.ndarray, own: bool) -> None:
        self.wrapped.put(saved, which, own)

    def memory_bytes(self) -> int:
        return self.wrapped.memory_bytes()

    def agree(self, seed: int) -> None:
        self.wrapped.agree(seed)

    def serve(self) -> bool:
        return self.wrapped.serve()

    def close(self) -> None:
        self.wrapped.close()
