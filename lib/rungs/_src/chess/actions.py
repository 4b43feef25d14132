"""The 4672 actions of `cpp/chess/action.hpp`, for Python: action = 64 * plane + from-square.

Squares are numbered from a1 = 0 to h8 = 63 and seen from the mover: the board is flipped for Black.
Castling by a king on e1 with the rook of a corner is the king's two squares; any other, which only
Chess960 has, is the king onto its rook.
"""

import chess

from rungs._src.chess.fen import board_of
from rungs._src.core.arguments import integer, shortened, shown
from rungs.errors import ConfigurationError

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

# A king and the corner of the rook it castles with -> where the king goes.
_TWO_SQUARES = {
    (chess.E1, chess.A1): chess.C1,
    (chess.E1, chess.H1): chess.G1,
    (chess.E8, chess.A8): chess.C8,
    (chess.E8, chess.H8): chess.G8,
}
_CORNER = {(king, target): corner for (king, corner), target in _TWO_SQUARES.items()}


def target_of(action: int) -> int | None:
    """Returns the square an action leads to, None off the board; or raises ConfigurationError."""
    action = integer("action", action, 0, NUM_ACTIONS - 1)
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
    """Returns the action id of a move of either side, by its squares alone.

    So castling must be written as in this module; `action_on` accepts python-chess's form.

    Raises:
        ConfigurationError: no piece moves so.
    """
    try:
        view = 56 if black else 0
        piece = move.promotion if move.promotion != chess.QUEEN else None
        return _ACTION_OF[move.from_square ^ view, move.to_square ^ view, piece]
    except (AttributeError, KeyError):
        raise ConfigurationError(f"move={shown(move)} is no move of a piece") from None


def action_on(move: chess.Move, board: chess.Board) -> int:
    """Returns the action id of a legal move, as `board` has it: in Chess960 kings take rooks.

    Anything but a move of a `chess.Board` is a ConfigurationError.
    """
    _check_board(board)
    if not isinstance(move, chess.Move):
        raise ConfigurationError(f"move={shown(move)} is not a chess.Move")
    if board.kings & chess.BB_SQUARES[move.from_square]:
        target = _TWO_SQUARES.get((move.from_square, move.to_square), move.to_square)
        move = chess.Move(move.from_square, target)
    return action_of(move, not board.turn)


def legal_actions(board: chess.Board) -> dict[int, chess.Move]:
    """Returns the legal moves of a `chess.Board` by action; a ConfigurationError for others."""
    _check_board(board)
    if board.chess960:
        return {action_on(move, board): move for move in board.legal_moves}
    # Without looking at every move's piece: the python rung calls this every ply.
    black = not board.turn
    return {action_of(move, black): move for move in board.legal_moves}


def move_of(action: int, board: chess.Board) -> chess.Move | None:
    """Returns the move an action means on `board`, legal or not; None where it leaves the board.

    Raises:
        ConfigurationError: the action is no integer of 64 bits, or `board` is no `chess.Board`.
    """
    action = integer("action", action, -(2**63), 2**63 - 1)
    _check_board(board)
    square = target_of(action) if 0 <= action < NUM_ACTIONS else None
    if square is None:
        return None
    view = 0 if board.turn else 56
    origin, target = action % 64 ^ view, square ^ view
    promotion = _PLANES[action // 64][2]
    if promotion is None and board.piece_type_at(origin) == chess.PAWN and square >= 56:
        promotion = chess.QUEEN
    if board.chess960 and board.kings & chess.BB_SQUARES[origin]:
        own_rooks = board.rooks & board.occupied_co[board.turn]
        if not own_rooks & chess.BB_SQUARES[target]:
            target = _CORNER.get((origin, target), target)
    return chess.Move(origin, target, promotion)


def _check_board(board: chess.Board) -> None:
    if not isinstance(board, chess.Board):
        raise ConfigurationError(f"board={shown(board)} is not a chess.Board")


def to_uci(action: int, fen: str, chess960: bool = False) -> str:
    """Returns an action in UCI notation: `to_uci(524, chess.STARTING_FEN)` is "e2e4".

    Args:
        chess960: whether castling is written as in Chess960, the king takes its rook. It always is
            where the position has a castling right that classical chess does not have.

    Raises:
        ConfigurationError: there is no such action, or it is illegal in that position, or
            `chess960` is not a bool.
        InvalidFenError: the FEN is malformed or its position impossible.
    """
    action, board = integer("action", action, 0, NUM_ACTIONS - 1), board_of(fen, chess960)
    move = move_of(action, board)
    if move is None or move not in board.legal_moves:
        raise ConfigurationError(f"action {action} is illegal in {fen}")
    return move.uci()


def from_uci(uci: str, fen: str) -> int:
    """Returns the action of a move in UCI notation: `from_uci("e2e4", chess.STARTING_FEN)` is 524.

    Castling may be written either way, as "e1g1" or "e1h1".

    Raises:
        ConfigurationError: it is not a move, or illegal in that position.
        InvalidFenError: the FEN is malformed or its position impossible.
    """
    board = board_of(fen)
    if not isinstance(uci, str):
        raise ConfigurationError(f"uci={shown(uci)} is not a move")
    try:
        move = board.parse_uci(uci)
    except ValueError as error:
        raise ConfigurationError(f"uci={shown(uci)}: {shortened(str(error))}") from None
    if not move:
        raise ConfigurationError(f"uci={shown(uci)} is not a move")
    return action_on(move, board)
