"""CartPole: the environment, and its physics in Python."""

from rungs._src.cartpole.vector_env import CartPoleVectorEnv

__all__ = [
    "CartPoleVectorEnv",
]
