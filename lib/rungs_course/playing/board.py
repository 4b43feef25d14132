"""The board as a widget: what stands there, and what may be played. `board.js` draws it."""

from collections.abc import Callable
from pathlib import Path

import anywidget
import chess
import chess.svg
import traitlets

_HERE = Path(__file__).parent
_PIECES = {
    piece.symbol(): chess.svg.piece(piece)
    for piece in (chess.Piece(kind, side) for kind in chess.PIECE_TYPES for side in chess.COLORS)
}


class Board(anywidget.AnyWidget):
    """A board on which moves are chosen, by mouse, touch or keyboard.

    Tab leads to it, arrows from square to square; Enter or Space chooses a piece and then where it
    goes; Escape chooses nothing.

    Attributes:
        fen: the position.
        moves: legal moves as UCI writes them, of the player who may choose one; else none.
        last: the move that led there, or "".
        check: the square of a king in check, or "".
        flipped: whether Black is below.
    """

    _esm = _HERE / "board.js"
    _css = _HERE / "board.css"
    fen = traitlets.Unicode(chess.STARTING_FEN).tag(sync=True)
    moves = traitlets.List(traitlets.Unicode()).tag(sync=True)
    last = traitlets.Unicode("").tag(sync=True)
    check = traitlets.Unicode("").tag(sync=True)
    flipped = traitlets.Bool(False).tag(sync=True)
    pieces = traitlets.Dict(_PIECES).tag(sync=True)

    def on_move(self, choose: Callable[[str], None]) -> None:
        """Calls `choose` with each move that is chosen, as UCI writes it, if it is legal."""

        def chosen(_, content, buffers) -> None:
            move = content.get("move") if isinstance(content, dict) else None
            if move in self.moves:  # a message may come late, or from anyone
                choose(move)

        self.on_msg(chosen)

    def show(self, board: chess.Board, playable: bool) -> None:
        """Shows a position, all at once.

        Args:
            board: the position, and what led there.
            playable: whether a move may be chosen.
        """
        king = board.king(board.turn) if board.is_check() else None
        with self.hold_sync():
            self.fen = board.fen()
            self.last = board.peek().uci() if board.move_stack else ""
            self.check = "" if king is None else chess.square_name(king)
            self.moves = [move.uci() for move in board.legal_moves] if playable else []
