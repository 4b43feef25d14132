"""The interface of a game of one's own in Python, as `cpp/rungs/game.hpp` is in C++."""

import abc
import dataclasses
import math
from pathlib import Path
from typing import ClassVar

import gymnasium
import numpy as np

from rungs._src.core.arguments import integer, shown
from rungs._src.core.philox import Purpose, below, philox
from rungs.errors import ConfigurationError

_MAX_INT = 2**31 - 1  # of C++


@dataclasses.dataclass
class GameRandom:
    """The random numbers of a board's episode, in the order in which the game draws them.

    `drawn` counts those that were drawn.
    """

    seed: int
    board: int
    episode: int
    drawn: int = 0

    def below(self, n: int) -> int:
        """Returns a number from 0 to n - 1; n is from 1 to 2**31 - 1."""
        n = integer("n", n, 1, _MAX_INT)
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


def check_game(game: type[Game]) -> None:
    """Raises ConfigurationError where something is no game, or its constants are wrong."""
    if not (isinstance(game, type) and issubclass(game, Game)):
        raise ConfigurationError(f"game={shown(game)} is not a subclass of rungs.base.Game")
    name = game.__name__
    integer(f"{name}.NUM_ACTIONS", getattr(game, "NUM_ACTIONS", None), 1, _MAX_INT)
    space = getattr(game, "OBSERVATION", None)
    if not isinstance(space, gymnasium.spaces.Box):
        raise ConfigurationError(f"{name}.OBSERVATION={shown(space)} is not a Box")
    num_bytes = math.prod(space.shape) * space.dtype.itemsize
    if not 1 <= num_bytes <= _MAX_INT:
        raise ConfigurationError(f"{name}.OBSERVATION={shown(space)} has {num_bytes} bytes")
    if game.SOURCE is not None and not (isinstance(game.SOURCE, Path) and game.SOURCE.is_file()):
        raise ConfigurationError(f"{name}.SOURCE={shown(game.SOURCE)} is not the path of a file")
