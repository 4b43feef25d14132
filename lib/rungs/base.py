"""For environments of your own: their base class, checked arguments, and random numbers."""

from rungs._src.core.arguments import integer
from rungs._src.core.batch_env import BatchEnv
from rungs._src.core.philox import Purpose, philox

__all__ = ["BatchEnv", "Purpose", "integer", "philox"]
