"""The batch of boards as C++ sees it: `cpp/rungs/batch.hpp`, field by field.

NumPy owns all the memory, boards included; C++ is told the addresses and never allocates.
"""

import ctypes

import numpy as np

from rungs.chess.buffers import MASKS, Buffers
from rungs.chess.settings import OPPONENTS, ChessSettings
from rungs.errors import CompilerError, InvalidFenError


class ChessBatch(ctypes.Structure):
    """`rungs::ChessBatch`."""

    _fields_ = (
        ("seed", ctypes.c_uint64),
        ("opponent", ctypes.c_int32),
        ("mask_format", ctypes.c_int32),
        ("max_plies", ctypes.c_uint32),
        ("opening_least", ctypes.c_uint32),
        ("opening_most", ctypes.c_uint32),
        ("num_starts", ctypes.c_uint32),
        ("starts", ctypes.c_void_p),
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


def parse_fen(api, fen: str) -> np.ndarray:
    """A `rungs::chess::Position`, (8,) uint64.

    Raises:
        InvalidFenError: the FEN is malformed or its position impossible; the message says why.
    """
    if "\0" in fen:
        raise InvalidFenError(f"{fen!r} holds a NUL")
    text = ctypes.create_string_buffer(fen.encode())
    why = ctypes.create_string_buffer(256)
    position = np.zeros(8, np.uint64)
    api.rungs_chess_parse_fen(ctypes.addressof(text), position.ctypes.data, ctypes.addressof(why))
    if why.value:
        raise InvalidFenError(f"{fen!r}: {why.value.decode(errors='replace')}")
    return position


class Boards:
    """The state of `num_envs` boards and the struct that C++ reads.

    Args:
        api: the compiled functions of `cpp/rungs/api.hpp`, from `rungs.jit` or `rungs.aot`.
        buffers: where the outputs go; kept alive here.
        settings: the environment's.
    """

    def __init__(self, api, buffers: Buffers, settings: ChessSettings):
        if api.rungs_chess_batch_bytes() != ctypes.sizeof(ChessBatch):
            raise CompilerError("cpp/rungs/batch.hpp and rungs/chess/native.py differ")
        num_envs = len(buffers.reward)
        self._buffers = buffers
        # Words of 8 bytes: NumPy aligns an array to its dtype, and the boards need no more.
        self._env = np.zeros((num_envs, api.rungs_chess_env_bytes() // 8), np.uint64)
        self._starts = np.stack([parse_fen(api, fen) for fen in settings.start_fens])
        outputs = ("observation", "mask", "reward", "terminated", "truncated", "reason", "player")
        self.batch = ChessBatch(
            opponent=OPPONENTS.index(settings.opponent),
            mask_format=tuple(MASKS).index(settings.mask),
            max_plies=settings.max_plies or 0,
            opening_least=settings.opening_plies[0],
            opening_most=settings.opening_plies[1],
            num_starts=len(self._starts),
            starts=self._starts.ctypes.data,
            num_envs=num_envs,
            env=self._env.ctypes.data,
            final_observation=buffers.final_observation.ctypes.data,
            **{name: getattr(buffers, name).ctypes.data for name in outputs},
        )
        self.address = ctypes.addressof(self.batch)
