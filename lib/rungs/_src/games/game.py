"""The interface of a game of one's own in Python, as `cpp/rungs/game.hpp` is in C++."""

import abc
import dataclasses
from pathlib import Path
from typing import ClassVar

import gymnasium
import numpy as np

from rungs._src.core.philox import Purpose, below, philox


@dataclasses.dataclass
class GameRandom:
    """The random numbers of a board's episode, in the order in which the game draws them.

    Attributes:
        seed, board, episode: of which episode.
        drawn: how many numbers were drawn.
    """

    seed: int
    board: int
    episode: int
    drawn: int = 0

    def below(self, n: int) -> int:
        """Returns a number from 0 to n - 1."""
        bits = philox(self.seed, self.board, self.episode, self.drawn, Purpose.GAME)
        self.drawn += 1
        return below(bits, n)


class Game(abc.ABC):
    """One board of a game, in Python: the reference that C++ is compared with.

    Attributes:
        SOURCE: the C++ file, which ends in `#include "bindings/game.hpp"`; None where there is only
            the reference.
        NUM_ACTIONS: actions are 0 to this - 1.
        OBSERVATION: the space of one board's observations.
    """

    SOURCE: ClassVar[Path | None] = None
    NUM_ACTIONS: ClassVar[int]
    OBSERVATION: ClassVar[gymnasium.spaces.Box]

    @abc.abstractmethod
    def reset(self, random: GameRandom) -> None:
        """Begins an episode."""

    @abc.abstractmethod
    def legal(self, action: int) -> bool:
        """Returns whether an action is allowed now; until the game has ended, some action is."""

    @abc.abstractmethod
    def step(self, action: int, random: GameRandom) -> tuple[float, bool, bool]:
        """Takes a legal action; returns the reward, and whether it terminated or truncated."""

    @abc.abstractmethod
    def observe(self) -> np.ndarray:
        """Returns the observation, of `OBSERVATION`'s shape."""
