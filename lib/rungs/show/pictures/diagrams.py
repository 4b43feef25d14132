"""Chess diagrams, several in a row."""

import chess
import matplotlib.patheffects
from matplotlib.patches import Rectangle

from rungs.show import style

_LIGHT, _DARK, _MOVED = "#F0E9D8", "#B8A48A", "#F5C84C"
_GLYPHS = dict(zip("kqrbnp", "♚♛♜♝♞♟", strict=True))


def diagrams(positions, columns: int = 4):
    """Draws positions with White below, rows of so many, the last move's squares marked.

    Args:
        positions: rows with `fen`, `title`, and `uci`, the move that led there, or "".
        columns: diagrams in a row, at the most.
    """
    positions = list(positions)
    across = min(columns, len(positions))
    down = -(-len(positions) // across)
    figure, axes = style.axes(2.4 * across, 2.7 * down, nrows=down, ncols=across, squeeze=False)
    for each in axes.flat:
        each.axis("off")
    size = 14 if across > 1 else 15
    for each, position in zip(axes.flat, positions, strict=False):
        _board(each, position.fen, position.uci, size)
        each.set_title(position.title, fontsize=9)
    return figure


def _board(axes, fen: str, uci: str, size: float) -> None:
    move = chess.Move.from_uci(uci) if uci else None
    moved = {move.from_square, move.to_square} if move else set()
    for square in chess.SQUARES:
        file, rank = chess.square_file(square), chess.square_rank(square)
        shade = _LIGHT if (file + rank) % 2 else _DARK
        color = _MOVED if square in moved else shade
        axes.add_patch(Rectangle((file, rank), 1, 1, facecolor=color))
    for square, piece in chess.Board(fen).piece_map().items():
        file, rank = chess.square_file(square), chess.square_rank(square)
        outline = matplotlib.patheffects.withStroke(linewidth=1.2, foreground=style.BLACK)
        axes.text(
            file + 0.5, rank + 0.46, _GLYPHS[piece.symbol().lower()], ha="center", va="center",
            fontsize=size, color="white" if piece.color else style.BLACK, path_effects=[outline],
            fontfamily="DejaVu Sans",
        )  # fmt: skip
    axes.set(xlim=(0, 8), ylim=(0, 8), aspect="equal")
