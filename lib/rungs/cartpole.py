"""CartPole: the environment and its settings."""

from rungs._src.cartpole.carts.carts import CartPoleSettings
from rungs._src.cartpole.keywords import CartPoleKeywords, CartPoleRung
from rungs._src.cartpole.vector_env import CartPoleVectorEnv

__all__ = ["CartPoleKeywords", "CartPoleRung", "CartPoleSettings", "CartPoleVectorEnv"]
