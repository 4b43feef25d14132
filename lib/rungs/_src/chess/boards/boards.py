"""The interface of a rung: the boards of an environment, and their steps."""

import abc
from typing import Any

import numpy as np

from rungs._src.chess.actions import move_of
from rungs._src.chess.fen import board_of
from rungs._src.chess.policy import random_actions
from rungs._src.chess.settings import ChessSettings
from rungs._src.core.arguments import Seed
from rungs._src.core.batch_env import Array
from rungs._src.core.buffers import Buffers
from rungs.errors import IllegalActionError


class Boards(abc.ABC):
    """The boards that a `ChessVectorEnv` owns, which checks arguments and resets them first."""

    device: Any = None  # PyTorch's, where outputs are tensors

    def __init__(
        self,
        num_envs: int,
        first_board: int,
        settings: ChessSettings,
        buffers: Buffers | None = None,
    ):
        self.num_envs, self.first_board, self.settings = num_envs, first_board, settings
        self.buffers = buffers or self.allocate(num_envs)

    def allocate(self, *boards: int) -> Buffers:
        """Makes zeroed memory for the outputs of (N,) boards, or of (T, N) in T steps."""
        return Buffers.allocate(self.settings.output_kinds(), *boards)

    def write_to(self, buffers: Buffers) -> None:
        self.buffers = buffers

    @abc.abstractmethod
    def reset(self, which: Array | None, seed: Seed, episode: int | None) -> None:
        """Begins an episode, or each board's next, on all or `which` boards; writes `POSITION`."""

    @abc.abstractmethod
    def step(self, actions: Array) -> int | None:
        """Plays (N,) int64 actions, or none; returns how many episodes ended, None if unknown."""

    @abc.abstractmethod
    def fen(self, board: int) -> str:
        """Returns the position of one board."""

    def fens(self) -> list[str]:
        return [self.fen(board) for board in range(self.num_envs)]

    @abc.abstractmethod
    def layout(self) -> str:
        """Returns a text that describes what `dump` writes, and changes when that does."""

    @abc.abstractmethod
    def dump(self) -> bytes:
        """Returns the state of all boards."""

    @abc.abstractmethod
    def load(self, payload: bytes, seed: Seed) -> None:
        """Restores all that `dump` returned, or nothing; writes `POSITION` and `ended`."""

    def sample(self, rng: np.random.Generator) -> Array:
        """Returns (N,) int64 actions as `random_actions` does for the masks; raises the same."""
        return random_actions(self.buffers.mask, rng)

    def close(self) -> None:  # noqa: B027 (most rungs hold nothing)
        """Ends processes; may be called twice."""


class CopyableBoards(Boards):
    """Boards in this process, which can be copied."""

    @abc.abstractmethod
    def save(self, which: np.ndarray) -> Any:
        """Copies boards, (n,) int64 indices, for `put` on this rung with these settings."""

    @abc.abstractmethod
    def put(self, saved: Any, which: np.ndarray, own_randomness: bool) -> None:
        """Overwrites boards `which`, (n,) int64, and all outputs by what `save` copied."""


def illegal_action(
    boards: Boards, board: int, action: int, fen: str | None = None
) -> IllegalActionError:
    fen = fen or boards.fen(board)
    move = move_of(action, board_of(fen, boards.settings.chess960))
    uci = move.uci() if move else None
    return IllegalActionError.of(boards.first_board + board, action, uci, fen)
