"""A step on a board of 64 squares in plain Python: version "king" of `cpp/course/step_mailbox.hpp`.

Function by function the same algorithm, so that the two differ in the language alone."""

from collections.abc import Iterator

import chess

from rungs.chess import action_of

PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING = range(1, 7)

# Files to the east and ranks to the north: the compass, odd ones are diagonals; a knight's jumps.
WAYS = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
JUMPS = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))

# Castling rights, a bit each, that are lost when a piece leaves a square or lands on it: White's
# short and long, Black's short and long.
RIGHTS_OF = {7: 1, 0: 2, 4: 3, 63: 4, 56: 8, 60: 12}


def offset(square: int, east: int, north: int) -> int:
    """Returns the square `east` files and `north` ranks away, or -1 if it is off the board."""
    file, rank = square % 8 + east, square // 8 + north
    return 8 * rank + file if 0 <= file < 8 and 0 <= rank < 8 else -1


class Mailbox:
    """64 squares and what stands on each: a piece's type, negative if it is Black's, or 0."""

    def __init__(self, fen: str):
        board = chess.Board(fen)
        self.square = [0] * 64  # from a1 to h8
        for at, piece in board.piece_map().items():
            self.square[at] = piece.piece_type if piece.color else -piece.piece_type
        self.black = not board.turn
        # castling, as in `RIGHTS_OF`
        self.rights = sum(
            right
            for corner, right in ((7, 1), (0, 2), (63, 4), (56, 8))
            if board.clean_castling_rights() & chess.BB_SQUARES[corner]
        )
        self.en_passant = -1 if board.ep_square is None else board.ep_square
        self._moves: dict[int, chess.Move] = {}  # the legal ones, by their actions

    def copy(self) -> "Mailbox":
        """Returns a board like this one, on which moves may be tried."""
        other = object.__new__(Mailbox)
        other.square, other.black = self.square[:], self.black
        other.rights, other.en_passant = self.rights, self.en_passant
        return other

    def king(self, black: bool) -> int:
        """Returns the square of a side's king."""
        return self.square.index(-KING if black else KING)

    def legal(self) -> list[int]:
        """Returns the legal actions."""
        self._moves = {action_of(move, self.black): move for move in legal_moves(self)}
        return list(self._moves)

    def play(self, action: int) -> None:
        """Plays one of the actions that `legal` returned last."""
        self.make(self._moves[action])

    def is_check(self) -> bool:
        """Whether the side to move is in check."""
        return attacked(self, self.king(self.black), not self.black)

    def make(self, move: chess.Move) -> None:
        """Makes a move."""
        start, end, promotion = move.from_square, move.to_square, move.promotion
        square, piece = self.square, self.square[start]
        pawn, distance = abs(piece) == PAWN, abs(end - start)
        if pawn and end == self.en_passant:
            square[end + (8 if self.black else -8)] = 0
        if abs(piece) == KING and distance == 2:
            corner = start + 3 if end > start else start - 4
            square[(start + end) // 2], square[corner] = square[corner], 0
        square[end], square[start] = piece, 0
        if promotion:
            square[end] = -promotion if self.black else promotion
        self.en_passant = (start + end) // 2 if pawn and distance == 16 else -1
        self.rights &= ~(RIGHTS_OF.get(start, 0) | RIGHTS_OF.get(end, 0))
        self.black = not self.black


def moves(board: Mailbox) -> Iterator[chess.Move]:
    """Yields all moves of the side to move, whether or not they leave its king in check."""
    side = -1 if board.black else 1
    for start, piece in enumerate(board.square):
        kind = piece * side
        if kind == PAWN:
            yield from pawn_moves(board, start, side)
        elif kind == KNIGHT:
            yield from jumps(board, start, side, JUMPS)
        elif kind == KING:
            yield from jumps(board, start, side, WAYS)
            yield from castling(board, start)
        elif kind > 0:
            for direction, (east, north) in enumerate(WAYS):
                if kind != QUEEN and kind != (BISHOP if direction % 2 else ROOK):
                    continue
                end = offset(start, east, north)
                while end >= 0 and board.square[end] * side <= 0:
                    yield chess.Move(start, end)
                    if board.square[end]:
                        break
                    end = offset(end, east, north)


def jumps(board: Mailbox, start: int, side: int, ways) -> Iterator[chess.Move]:
    """Yields the moves of a knight or a king."""
    for east, north in ways:
        end = offset(start, east, north)
        if end >= 0 and board.square[end] * side <= 0:
            yield chess.Move(start, end)


def pawn_moves(board: Mailbox, start: int, side: int) -> Iterator[chess.Move]:
    """Yields the moves of a pawn."""
    ends = []
    if not board.square[start + 8 * side]:
        ends.append(start + 8 * side)
        if start // 8 == (6 if board.black else 1) and not board.square[start + 16 * side]:
            ends.append(start + 16 * side)
    for east in (-1, 1):
        end = offset(start, east, side)
        if end >= 0 and (board.square[end] * side < 0 or end == board.en_passant):
            ends.append(end)
    for end in ends:
        for promotion in (None,) if 8 <= end < 56 else (KNIGHT, BISHOP, ROOK, QUEEN):
            yield chess.Move(start, end, promotion)


def castling(board: Mailbox, start: int) -> Iterator[chess.Move]:
    """Yields castling, where rights and empty squares allow it."""
    rights = board.rights >> 2 if board.black else board.rights
    if rights & 1 and not any(board.square[start + 1 : start + 3]):
        yield chess.Move(start, start + 2)
    if rights & 2 and not any(board.square[start - 3 : start]):
        yield chess.Move(start, start - 2)


def attacked(board: Mailbox, square: int, by_black: bool) -> bool:
    """Whether a side attacks a square: looks for each kind of piece where it would stand."""
    side, on = (-1 if by_black else 1), board.square
    for east, north in JUMPS:
        at = offset(square, east, north)
        if at >= 0 and on[at] == KNIGHT * side:
            return True
    for east in (-1, 1):
        at = offset(square, east, -side)
        if at >= 0 and on[at] == PAWN * side:
            return True
    for direction, (east, north) in enumerate(WAYS):
        at = offset(square, east, north)
        if at >= 0 and on[at] == KING * side:
            return True
        while at >= 0 and not on[at]:
            at = offset(at, east, north)
        if at >= 0 and on[at] * side in (QUEEN, BISHOP if direction % 2 else ROOK):
            return True
    return False


def is_safe(board: Mailbox, move: chess.Move) -> bool:
    """Whether the king can't be taken after a move."""
    after = board.copy()
    after.make(move)
    return not attacked(after, after.king(not after.black), after.black)


def legal_moves(board: Mailbox) -> Iterator[chess.Move]:
    """Yields those moves that are legal. A king neither leaves an attacked square by castling nor
    crosses one."""
    for move in moves(board):
        start, end = move.from_square, move.to_square
        castles = abs(board.square[start]) == KING and abs(end - start) == 2
        if is_safe(board, move) and (
            not castles
            or (
                not attacked(board, start, not board.black)
                and is_safe(board, chess.Move(start, (start + end) // 2))
            )
        ):
            yield move
