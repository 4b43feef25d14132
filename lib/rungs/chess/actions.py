"""The 4672 actions of `cpp/chess/action.hpp`, for Python: action = 64 * plane + from-square.

Squares are numbered from a1 = 0 to h8 = 63 and seen from the mover: the board is flipped for Black.
"""

import chess

from rungs.core.arguments import integer, shortened, shown
from rungs.errors import ConfigurationError, InvalidFenError

NUM_PLANES = 73
NUM_ACTIONS = 64 * NUM_PLANES

_COMPASS = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
_JUMPS = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))
_UNDERPROMOTIONS = (chess.KNIGHT, chess.BISHOP, chess.ROOK)

# Per plane: files to the east, ranks to the north, and the piece it promotes to.
_PLANES = (
    [(x * k, y * k, None) for k in range(1, 8) for x, y in _COMPASS]
    + [(x, y, None) for x, y in _JUMPS]
    + [(x, 1, piece) for piece in _UNDERPROMOTIONS for x in (-1, 0, 1)]
)


def target_of(action: int) -> int | None:
    """Returns the square an action leads to, or None where that is off the board."""
    x, y, _ = _PLANES[action // 64]
    file, rank = action % 8 + x, action % 64 // 8 + y
    return 8 * rank + file if 0 <= file < 8 and 0 <= rank < 8 else None


# (from, to, piece an underpromotion makes) -> action, for every action that stays on the board.
_ACTION_OF = {
    (action % 64, target_of(action), _PLANES[action // 64][2]): action
    for action in range(NUM_ACTIONS)
    if target_of(action) is not None
}


def action_of(move: chess.Move, black: bool) -> int:
    """Returns the action id of a move of either side."""
    view = 56 if black else 0
    piece = move.promotion if move.promotion != chess.QUEEN else None
    return _ACTION_OF[move.from_square ^ view, move.to_square ^ view, piece]


def move_of(action: int, board: chess.Board) -> chess.Move | None:
    """Returns the move an action means on `board`, legal or not; None where it leaves the board."""
    if not 0 <= action < NUM_ACTIONS or target_of(action) is None:
        return None
    view = 0 if board.turn else 56
    origin, target = action % 64 ^ view, target_of(action) ^ view
    promotion = _PLANES[action // 64][2]
    if promotion is None and board.piece_type_at(origin) == chess.PAWN and target_of(action) >= 56:
        promotion = chess.QUEEN
    return chess.Move(origin, target, promotion)


def to_uci(action: int, fen: str) -> str:
    """Writes an action as UCI writes it: `to_uci(524, chess.STARTING_FEN)` is "e2e4".

    Raises:
        ConfigurationError: there is no such action, or it is illegal in that position.
        InvalidFenError: the FEN is malformed.
    """
    action, board = integer("action", action, 0, NUM_ACTIONS - 1), _board(fen)
    move = move_of(action, board)
    if move is None or move not in board.legal_moves:
        raise ConfigurationError(f"action {action} is illegal in {fen}")
    return move.uci()


def from_uci(uci: str, fen: str) -> int:
    """Returns the action that UCI's `uci` is: `from_uci("e2e4", chess.STARTING_FEN)` is 524.

    Raises:
        ConfigurationError: it is not a move, or illegal in that position.
        InvalidFenError: the FEN is malformed.
    """
    board = _board(fen)
    if not isinstance(uci, str):
        raise ConfigurationError(f"uci={shown(uci)} is no move")
    try:
        move = board.parse_uci(uci)
    except ValueError as error:
        raise ConfigurationError(f"uci={shown(uci)}: {shortened(str(error))}") from None
    if not move:
        raise ConfigurationError(f"uci={shown(uci)} is no move")
    return action_of(move, not board.turn)


def _board(fen: str) -> chess.Board:
    if not isinstance(fen, str):
        raise InvalidFenError(f"{shown(fen)} is not a FEN")
    try:
        return chess.Board(fen)
    except ValueError as error:
        raise InvalidFenError(f"{shown(fen)}: {shortened(str(error))}") from None
