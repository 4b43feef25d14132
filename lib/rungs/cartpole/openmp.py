"""The OpenMP rung of CartPole: the C++ rung's registers, shared out among threads."""

from rungs.cartpole.cpp import CppCartPoleEnv
from rungs.compile import openmp
from rungs.core.arguments import integer
from rungs.machine.cpu import usable_cores, warn_of_oversubscription


class OpenmpCartPoleEnv(CppCartPoleEnv):
    """See `CartPoleVectorEnv` for arguments and outputs; this changes time and nothing else.

    Args:
        num_envs: how many environments.
        threads: by default as many as there are cores to use. Small batches use fewer, where
            another costs more than it brings.
    """

    def __init__(self, num_envs: int, *, threads: int | None = None, **settings):
        threads = usable_cores() if threads is None else threads
        self.threads = integer("threads", threads, 1, 1024)
        super().__init__(num_envs, **settings)
        warn_of_oversubscription("threads", self.threads)
        if self.threads > 1:
            openmp.warn_of_two()
