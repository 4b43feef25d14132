"""For environments of your own: their base class, checked arguments, and random numbers."""

from rungs._src.core.arguments import integer
from rungs._src.core.batch_env import BatchEnv
from rungs._src.core.philox import Purpose, philox
from rungs._src.games.game import Game, GameRandom
from rungs._src.games.vector_env import GameVectorEnv

__all__ = ["BatchEnv", "Game", "GameRandom", "GameVectorEnv", "Purpose", "integer", "philox"]
