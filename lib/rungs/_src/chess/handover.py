"""Observations and masks that are handed over: each step writes to new memory, without copies."""

import weakref

import numpy as np

from rungs._src.chess.vector_env import ChessVectorEnv
from rungs._src.core.buffers import Buffers
from rungs._src.core.memory import zeroed_lines

# The large outputs. All others are copied instead, which costs less.
HANDED_OVER = ("observation", "mask")


class FreshOutputs:
    """Memory for outputs that readers may keep, reused once no array or tensor refers to it."""

    def __init__(self, env: ChessVectorEnv):
        self._env = env
        kinds = env.settings.output_kinds()
        self._like = Buffers.like({name: kinds[name] for name in HANDED_OVER}, env.num_envs)
        self._size = self._like.memory_bytes()
        self._spare: list[memoryview] = []

    def next(self) -> Buffers:
        """Returns where the next step or reset is to write, as its `out`."""
        env = self._env
        if env.device is not None:  # PyTorch's allocator reuses memory
            return env.boards.allocate(env.num_envs)
        memory = self._spare.pop() if self._spare else zeroed_lines(self._size).data
        # All arrays made of it refer to `owner`, and so do their views: NumPy follows arrays down
        # to the one whose memory is not another array's.
        owner = np.asarray(memory)
        weakref.finalize(owner, self._spare.append, memory)
        return Buffers(**vars(env.boards.buffers) | vars(self._like.within(owner)))
