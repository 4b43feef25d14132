import chess
from chess.polyglot import zobrist_hash


def keys(moves):
    """Returns the keys of a game's positions, from the first on."""
    board = chess.Board()
    all_keys = [zobrist_hash(board)]
    for move in moves:
        board.push(move)
        all_keys.append(zobrist_hash(board))
    return all_keys
