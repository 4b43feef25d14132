"""Translates action ids of projects that list AlphaZero's moves in another order than ours."""

from collections.abc import Sequence

import chess
import numpy as np

from rungs.chess import NUM_ACTIONS, action_of

# The 73 planes of OpenSpiel (`MoveToAction` in its games/chess/chess.cc) and of Pgx (`Action` in
# its _src/games/chess.py), see `to_ours`:
#   0..8    a pawn promoting to less than a queen, to the rank ahead of it
#   9..64   a queen's move: 14 steps (-7..-1, 1..7) along each of 4 lines
#   65..72  a knight's jump
_LINES = ((0, 1), (1, 0), (1, 1), (1, -1))
_STEPS = (*range(-7, 0), *range(1, 8))
_JUMPS = ((-2, -1), (-2, 1), (-1, -2), (-1, 2), (2, -1), (2, 1), (1, -2), (1, 2))
SPIEL_PLANES = (
    [(x, 1, piece) for piece in (chess.ROOK, chess.BISHOP, chess.KNIGHT) for x in (0, 1, -1)]
    + [(x * step, y * step, None) for x, y in _LINES for step in _STEPS]
    + [(x, y, None) for x, y in _JUMPS]
)


def to_ours(planes: Sequence[tuple[int, int, int | None]]) -> np.ndarray:
    """Returns our action for each of a peer's, whose ids are `len(planes) * from-square + plane`:
    (64 * len(planes),) int64, -1 where a move leaves the board.

    A plane is how far to the east and to the north a move leads, and the piece other than a queen
    that a pawn becomes. Squares are seen from the mover and counted up the files: a1, a2.
    """
    actions = np.full(64 * len(planes), -1)
    for peer_action in range(len(actions)):
        square, plane = divmod(peer_action, len(planes))
        file, rank = divmod(square, 8)
        x, y, promotion = planes[plane]
        if 0 <= file + x < 8 and 0 <= rank + y < 8:
            target = chess.square(file + x, rank + y)
            move = chess.Move(chess.square(file, rank), target, promotion)
            actions[peer_action] = action_of(move, black=False)
    return actions


def inverse(to_ours: np.ndarray) -> np.ndarray:
    """Returns a peer's action for each of ours, (4672,) int64, -1 for none; from `to_ours`."""
    to_theirs = np.full(NUM_ACTIONS, -1)
    on_board = np.flatnonzero(to_ours >= 0)
    to_theirs[to_ours[on_board]] = on_board
    return to_theirs


def our_mask(peer_mask: np.ndarray, to_theirs: np.ndarray) -> np.ndarray:
    """Returns a peer's masks, (N, n), with its actions in our order, (N, 4672) bool."""
    return peer_mask.take(to_theirs, axis=1).astype(np.bool_) & (to_theirs >= 0)
