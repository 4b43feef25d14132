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
    """The boards that a `rungs.chess.ChessVectorEnv` owns; it has checked all arguments.

    No method but `reset`, `load` and `close` is called before the first `reset`.
    """

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
        """Writes outputs to `buffers` from now on."""
        self.buffers = buffers

    @abc.abstractmethod
    def reset(self, which: Array | None, seed: Seed, episode: int | None) -> None:
        """Begins an episode where `which`, (N,) bool, is set, or everywhere; writes `POSITION`.

        `seed` is of all boards from now on, or (N,) uint64, one for each board, which then draws
        the random numbers of board 0 of a batch with that seed. Without `episode` each board's next
        one begins.
        """

    @abc.abstractmethod
    def step(self, actions: Array) -> int | None:
        """Plays (N,) int64 actions and writes all outputs; returns how many episodes ended.

        Returns None where the rung doesn't wait to count them. An IllegalActionError changes no
        board.
        """

    @abc.abstractmethod
    def fen(self, board: int) -> str:
        """Returns the position of one board."""

    def fens(self) -> list[str]:
        """Returns the positions of all boards."""
        return [self.fen(board) for board in range(self.num_envs)]

    @abc.abstractmethod
    def layout(self) -> str:
        """Returns a text that describes what `dump` writes, and changes when that does."""

    @abc.abstractmethod
    def dump(self) -> bytes:
        """Returns the state of all boards."""

    @abc.abstractmethod
    def load(self, payload: bytes, seed: Seed) -> None:
        """Restores what `dump` returned; writes observations, masks, players and which have ended.

        `seed` is as for `reset`, for later episodes. An InvalidStateError changes no board.
        """

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
        """Overwrites boards `which`, (n,) int64, with what `save` copied, and writes all outputs.

        With `own_randomness` they draw random numbers by their own seed, number and episode, else
        by the copies'.
        """


def illegal_action(
    boards: Boards, board: int, action: int, fen: str | None = None
) -> IllegalActionError:
    """Makes the error that names an illegal action on a board of the batch."""
    fen = fen or boards.fen(board)
    move = move_of(action, board_of(fen, boards.settings.chess960))
    uci = move.uci() if move else None
    return IllegalActionError.of(boards.first_board + board, action, uci, fen)
