"""Other projects' action ids in ours, where they list AlphaZero's moves in another order."""

from collections.abc import Sequence

import chess
import numpy as np

from rungs._src.chess.actions import NUM_ACTIONS, action_of


def to_ours(planes: Sequence[tuple[int, int, int | None]]) -> np.ndarray:
    """Returns our action for each of a peer's, whose ids are `len(planes) * from-square + plane`.

    Args:
        planes: how far to the east and to the north a move leads, and the piece other than a queen
            that a pawn becomes. Squares are seen from the mover and counted up the files: a1, a2.

    Returns:
        (64 * len(planes),) int64, -1 where a move leaves the board.
    """
    ours = np.full(64 * len(planes), -1)
    for theirs in range(len(ours)):
        square, plane = divmod(theirs, len(planes))
        file, rank = divmod(square, 8)
        x, y, promotion = planes[plane]
        if 0 <= file + x < 8 and 0 <= rank + y < 8:
            target = chess.square(file + x, rank + y)
            move = chess.Move(chess.square(file, rank), target, promotion)
            ours[theirs] = action_of(move, black=False)
    return ours


def inverse(to_ours: np.ndarray) -> np.ndarray:
    """Returns a peer's action for each of ours, (4672,) int64, -1 for none; from `to_ours`."""
    to_theirs = np.full(NUM_ACTIONS, -1)
    theirs = np.flatnonzero(to_ours >= 0)
    to_theirs[to_ours[theirs]] = theirs
    return to_theirs


def our_mask(theirs: np.ndarray, to_theirs: np.ndarray) -> np.ndarray:
    """Returns a peer's masks, (N, n), with its actions in our order, (N, 4672) bool."""
    return theirs.take(to_theirs, axis=1).astype(np.bool_) & (to_theirs >= 0)
