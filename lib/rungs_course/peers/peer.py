"""What a peer is to us: some games in another project's environment, stepped as its users do."""

import abc
import dataclasses
from typing import ClassVar

import numpy as np

from rungs.chess.policy import random_actions


@dataclasses.dataclass(frozen=True)
class Step:
    """What one step of a peer includes, in words.

    Attributes:
        mask: how it tells which actions are legal.
        observation: what an agent sees, of whom.
        draws: the rules by which a game is drawn.
        reset: who begins the next game, and whether that is a step of its own.
    """

    mask: str
    observation: str
    draws: str
    reset: str


class Peer(abc.ABC):
    """A batch of environments, of which `step` alone is timed.

    Args:
        num_envs: how many.
        threads: how many threads may step them, where the peer has any.
    """

    def __init__(self, num_envs: int, threads: int = 1):
        self.num_envs, self.threads = num_envs, threads

    @abc.abstractmethod
    def reset(self, seed: int) -> None:
        """Begins an episode in each."""

    @abc.abstractmethod
    def choose(self, rng: np.random.Generator):
        """Chooses a random legal action for each, as `step` takes them."""

    @abc.abstractmethod
    def step(self, actions) -> tuple:
        """Plays an action in each, begins the next episode where one ended; all outputs."""

    def played(self) -> int:
        """Returns in how many the last step was an action played, and not just a reset."""
        return self.num_envs

    def close(self) -> None:  # noqa: B027 (most have nothing to end)
        """Ends what belongs to it."""


class ChessPeer(Peer):
    """A batch of chess games, whose actions can be told in ours.

    Attributes:
        STEP: what a step includes.
        MOST_PLIES: where it ends games that the rules don't, or None.
        ended: (N,) bool, the games that the last step ended.
        result: (N,) float, what White got of them: 1, 0 or -1.
    """

    STEP: ClassVar[Step]
    MOST_PLIES: ClassVar[int | None] = None

    ended: np.ndarray
    result: np.ndarray

    def choose(self, rng: np.random.Generator):
        """Chooses a random legal action of each game, as `step` takes them."""
        return self.native(random_actions(self.mask(), rng))

    @abc.abstractmethod
    def mask(self) -> np.ndarray:
        """Returns (N, 4672) bool, or (N, 73) uint64: the legal actions of each game, in our ids."""

    @abc.abstractmethod
    def native(self, actions: np.ndarray):
        """Chooses (N,) legal actions in our ids, as `step` takes them."""
