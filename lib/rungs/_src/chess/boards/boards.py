"""What a rung is: the boards of an environment, and how they are stepped."""

import abc
from typing import Any

import numpy as np

from rungs._src.chess.actions import move_of
from rungs._src.chess.buffers import Buffers
from rungs._src.chess.fen import board_of
from rungs._src.chess.policy import random_actions
from rungs._src.chess.settings import ChessSettings
from rungs._src.core.arguments import Seed
from rungs._src.core.batch_env import Array
from rungs.errors import IllegalActionError


class Boards(abc.ABC):
    """The boards that a `rungs.chess.ChessVectorEnv` owns.

    The environment has checked what comes in: actions have their shape and dtype, seeds and boards
    are in range, and no method but `reset`, `load` and `close` is called before the first `reset`.

    Args:
        num_envs: how many boards there are.
        first_board: the number of the first among all.
        settings: the environment's.
        buffers: where outputs are written; by default memory that `allocate` makes.

    Attributes:
        num_envs: how many boards are this environment's.
        first_board: the number of the first of them.
        settings: the environment's.
        buffers: where outputs are written.
        device: where outputs are tensors, PyTorch's name of their device; else None.
    """

    device: Any = None

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
        return Buffers.allocate(boards, self.settings)

    def write_to(self, buffers: Buffers) -> None:
        """Writes outputs to `buffers` from now on."""
        self.buffers = buffers

    @abc.abstractmethod
    def reset(self, which: Array | None, seed: Seed, episode: int | None) -> None:
        """Begins an episode and writes observations, masks and players.

        Args:
            which: (N,) bool, on which boards; None for all.
            seed: of all boards, from now on; or (N,) uint64, one for each board, which then draws
                the random numbers of board 0 of a batch with that seed.
            episode: its number; None for each board's next.
        """

    @abc.abstractmethod
    def step(self, actions: Array) -> int | None:
        """Plays (N,) int64 actions and writes all outputs; returns how many episodes ended.

        Returns None where the rung doesn't wait to count them.

        Raises:
            IllegalActionError: an action is not legal on its board; no board has changed.
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

        `seed` is as for `reset`, for later episodes.

        Raises:
            InvalidStateError: it can't be what `dump` returned; no board has changed.
        """

    def sample(self, rng: np.random.Generator) -> Array:
        """Returns (N,) int64 actions, those that `random_actions` chooses by the masks.

        Raises:
            ConfigurationError: a board accepts no action; the message names it.
        """
        return random_actions(self.buffers.mask, rng)

    def close(self) -> None:  # noqa: B027 (most rungs hold nothing)
        """Ends processes; may be called twice."""


class CopyableBoards(Boards):
    """Boards in this process, which can be copied."""

    @abc.abstractmethod
    def save(self, which: np.ndarray) -> Any:
        """Copies boards, (n,) int64 indices, for `put` on this rung with these settings."""

    @abc.abstractmethod
    def put(self, saved: Any, which: np.ndarray, own: bool) -> None:
        """Overwrites boards with what `save` copied, and writes all outputs, as after a reset.

        Args:
            saved: what `save` returned, of n boards.
            which: (n,) int64, the indices of different boards.
            own: whether they draw random numbers of their own, for their number and episode; else
                those of the boards that were copied.
        """


def illegal_action(
    boards: Boards, board: int, action: int, fen: str | None = None
) -> IllegalActionError:
    """Makes the error that names an illegal action on a board of the batch."""
    fen = fen or boards.fen(board)
    move = move_of(action, board_of(fen, boards.settings.chess960))
    uci = move.uci() if move else None
    return IllegalActionError.of(boards.first_board + board, action, uci, fen)
