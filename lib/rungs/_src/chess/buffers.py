"""The arrays a chess environment writes its outputs to, by name: their shapes and dtypes."""

import numpy as np

from rungs._src.chess.actions import NUM_ACTIONS, NUM_PLANES
from rungs._src.chess.observation import OBSERVATIONS

# The most actions that are legal in any reachable position: see cpp/chess/action.hpp.
MAX_LEGAL = 218

# Shape and dtype of one board's mask.
MASKS = {
    "bool": ((NUM_ACTIONS,), np.bool_),
    "bits": ((NUM_PLANES,), np.uint64),
    "list": ((MAX_LEGAL,), np.int16),
}

# Every output by name, with one board's shape and dtype. First those of the current position, which
# a reset writes as well. C++ must have the same, `RUNGS_CHESS_OUTPUTS`, or no boards are made.
_OF_POSITION = {
    "observation": lambda settings: OBSERVATIONS[settings.obs, settings.dtype],
    "mask": lambda settings: MASKS[settings.mask],
    "action_count": lambda settings: (() if settings.mask == "list" else (0,), np.int16),
    "player": lambda settings: ((), np.int8),
}
OUTPUTS = _OF_POSITION | {
    "reward": lambda settings: ((), np.float32),
    "terminated": lambda settings: ((), np.bool_),
    "truncated": lambda settings: ((), np.bool_),
    "ended": lambda settings: ((), np.bool_),
    "reason": lambda settings: ((), np.int8),
    "final_observation": lambda settings: OBSERVATIONS[settings.obs, settings.dtype],
}
POSITION = tuple(_OF_POSITION)
