import chess
from chess.polyglot import POLYGLOT_RANDOM_ARRAY as NUMBERS
from chess.polyglot import zobrist_hash

TURN = NUMBERS[780]
OF = [NUMBERS[64 * kind : 64 * kind + 64] for kind in range(12)]  # [kind][square]
EMPTY = -1  # what no kind is; pawns are 0 and 1, kings 10 and 11, black and white


def kind_of(piece):
    return 2 * (piece.piece_type - 1) + piece.color if piece else EMPTY


FIRST = [kind_of(chess.Board().piece_at(square)) for square in range(64)]
FIRST_KEY = zobrist_hash(chess.Board())

# The number of each set of castling rights, and which stay when a square is left or reached.
RIGHTS = [0] * 16
for i in range(4):
    for rights in range(1 << i):
        RIGHTS[rights + (1 << i)] = RIGHTS[rights] ^ NUMBERS[768 + i]
STAY = [15] * 64
STAY[chess.E1], STAY[chess.H1], STAY[chess.A1] = 12, 14, 13
STAY[chess.E8], STAY[chess.H8], STAY[chess.A8] = 3, 11, 7


def keys(moves):
    """Returns the keys of a game's positions, from the first on."""
    at, key, rights, passing = FIRST.copy(), FIRST_KEY, 15, 0
    all_keys = [key]
    for move in moves:
        start, end = move.from_square, move.to_square
        kind, taken = at[start], at[end]
        key ^= TURN ^ passing ^ OF[kind][start]
        passing = 0
        at[start] = EMPTY
        if taken != EMPTY:
            key ^= OF[taken][end]
        if kind < 2:
            if move.promotion:
                kind += 2 * (move.promotion - 1)
            elif abs(end - start) == 16:
                beside = at[end - 1 : end] * (end % 8 > 0) + at[end + 1 : end + 2] * (end % 8 < 7)
                if kind ^ 1 in beside:
                    passing = NUMBERS[772 + end % 8]
                    key ^= passing
            elif taken == EMPTY and (end - start) % 8:
                passed = start // 8 * 8 + end % 8
                key ^= OF[kind ^ 1][passed]
                at[passed] = EMPTY
        elif kind > 9 and abs(end - start) == 2:
            corner, middle = (end + 1, end - 1) if end > start else (end - 2, end + 1)
            rook = at[corner]
            at[corner], at[middle] = EMPTY, rook
            key ^= OF[rook][corner] ^ OF[rook][middle]
        at[end] = kind
        key ^= OF[kind][end]
        left = rights & STAY[start] & STAY[end]
        if left != rights:
            key ^= RIGHTS[rights] ^ RIGHTS[left]
            rights = left
        all_keys.append(key)
    return all_keys
