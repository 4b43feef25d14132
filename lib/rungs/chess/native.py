"""The batch of boards as C++ sees it: `cpp/rungs/batch.hpp`, field by field.

NumPy owns all the memory, boards included; C++ is told the addresses and never allocates.
"""

import ctypes

import numpy as np

from rungs.chess.buffers import MASKS, Buffers
from rungs.chess.vector_env import OPPONENTS
from rungs.errors import CompilerError


class ChessBatch(ctypes.Structure):
    """`rungs::ChessBatch`."""

    _fields_ = (
        ("seed", ctypes.c_uint64),
        ("opponent", ctypes.c_int32),
        ("mask_format", ctypes.c_int32),
        ("max_plies", ctypes.c_uint32),
        ("num_envs", ctypes.c_int64),
        ("first_board", ctypes.c_int64),
        ("env", ctypes.c_void_p),
        ("observation", ctypes.c_void_p),
        ("mask", ctypes.c_void_p),
        ("reward", ctypes.c_void_p),
        ("terminated", ctypes.c_void_p),
        ("truncated", ctypes.c_void_p),
        ("reason", ctypes.c_void_p),
        ("player", ctypes.c_void_p),
        ("final_observation", ctypes.c_void_p),
    )


class Boards:
    """The state of `num_envs` boards and the struct that C++ reads.

    Args:
        api: the compiled functions of `cpp/rungs/api.hpp`, from `rungs.jit` or `rungs.aot`.
        buffers: where the outputs go; kept alive here.
        opponent: None or "random".
        mask: "bool" or "bits".
        max_plies: plies after which an episode is truncated, or None.
    """

    def __init__(self, api, buffers: Buffers, opponent: str | None, mask: str, max_plies):
        if api.rungs_chess_batch_bytes() != ctypes.sizeof(ChessBatch):
            raise CompilerError("cpp/rungs/batch.hpp and rungs/chess/native.py differ")
        num_envs = len(buffers.reward)
        self._buffers = buffers
        # Words of 8 bytes: NumPy aligns an array to its dtype, and the boards need no more.
        self._env = np.zeros((num_envs, api.rungs_chess_env_bytes() // 8), np.uint64)
        outputs = ("observation", "mask", "reward", "terminated", "truncated", "reason", "player")
        self.batch = ChessBatch(
            opponent=OPPONENTS.index(opponent),
            mask_format=tuple(MASKS).index(mask),
            max_plies=max_plies or 0,
            num_envs=num_envs,
            env=self._env.ctypes.data,
            final_observation=buffers.final_observation.ctypes.data,
            **{name: getattr(buffers, name).ctypes.data for name in outputs},
        )
        self.address = ctypes.addressof(self.batch)
