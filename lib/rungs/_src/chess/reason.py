"""Why an episode ended."""

import enum


class Reason(enum.IntEnum):
    """The codes of `info["reason"]`, as in `cpp/chess/game.hpp` and `cpp/env/outputs.hpp`."""

    ONGOING = 0
    CHECKMATE = 1
    STALEMATE = 2
    INSUFFICIENT_MATERIAL = 3
    FIFTY_MOVES = 4
    THREEFOLD_REPETITION = 5
    MAX_PLIES = 6
