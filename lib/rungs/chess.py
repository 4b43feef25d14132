"""Chess: environments, actions, observations, engines and perft."""

from rungs._src.chess.actions import (
    NUM_ACTIONS,
    NUM_PLANES,
    action_of,
    action_on,
    from_uci,
    legal_actions,
    move_of,
    target_of,
    to_uci,
)
from rungs._src.chess.async_env import AsyncChessEnv
from rungs._src.chess.engine import UciEngine
from rungs._src.chess.fen import board_of
from rungs._src.chess.keywords import ChessKeywords, ChessRung
from rungs._src.chess.observation import BOARD_FIELDS, PLANE_NAMES, mirrored
from rungs._src.chess.perft import PerftCase, perft_cpp, perft_python, read_epd
from rungs._src.chess.policy import random_actions
from rungs._src.chess.reason import Reason
from rungs._src.chess.settings import ChessSettings
from rungs._src.chess.snapshot import Snapshot
from rungs._src.chess.unpack import unpack_list, unpack_mask, unpack_planes
from rungs._src.chess.vector_env import ChessVectorEnv
from rungs._src.core.buffers import Buffers
from rungs._src.programs import find_program

__all__ = [
    "BOARD_FIELDS",
    "NUM_ACTIONS",
    "NUM_PLANES",
    "PLANE_NAMES",
    "AsyncChessEnv",
    "Buffers",
    "ChessKeywords",
    "ChessRung",
    "ChessSettings",
    "ChessVectorEnv",
    "PerftCase",
    "Reason",
    "Snapshot",
    "UciEngine",
    "action_of",
    "action_on",
    "board_of",
    "find_program",
    "from_uci",
    "legal_actions",
    "mirrored",
    "move_of",
    "perft_cpp",
    "perft_python",
    "random_actions",
    "read_epd",
    "target_of",
    "to_uci",
    "unpack_list",
    "unpack_mask",
    "unpack_planes",
]
