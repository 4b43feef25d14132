import chess
from chess.polyglot import POLYGLOT_RANDOM_ARRAY as NUMBERS
from chess.polyglot import zobrist_hash


def keys(moves):
    """Returns the keys of a game's positions, from the first on."""
    board = chess.Board()
    key = zobrist_hash(board)
    found = [key]
    for move in moves:
        piece = board.piece_at(move.from_square)
        kind = 2 * (piece.piece_type - 1) + piece.color
        # The piece leaves, and arrives; the other side is to move. And all the rest?
        key ^= NUMBERS[64 * kind + move.from_square]
        key ^= NUMBERS[64 * kind + move.to_square]
        key ^= NUMBERS[780]
        board.push(move)
        found.append(key)
    return found
