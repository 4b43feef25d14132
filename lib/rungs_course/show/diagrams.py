"""Chess positions as diagrams, White below."""

from collections.abc import Iterable

import chess
import matplotlib.patches
import matplotlib.patheffects
import pandas as pd

from rungs_course.show import style

_LIGHT, _DARK, _MOVED = "#F5F5F5", "#C9CFD6", "#F3D28B"
_GLYPHS = dict(zip("kqrbnp", "♚♛♜♝♞♟", strict=True))


def rows_of(positions: Iterable, columns: int = 4):
    """Draws positions in rows of so many, the last move's squares marked.

    Args:
        positions: each with `fen`, `title`, and `uci`, the move that led there, or "".
        columns: diagrams in a row, at the most.
    """
    positions = list(positions)
    across = min(columns, len(positions))
    down = -(-len(positions) // across)
    figure, panels = style.axes(2.4 * across, 2.7 * down, nrows=down, ncols=across, squeeze=False)
    for axes in panels.flat[len(positions) :]:
        axes.axis("off")
    for axes, each in zip(panels.flat, positions, strict=False):
        move = chess.Move.from_uci(each.uci) if each.uci else chess.Move.null()
        position(axes, each.fen, {move.from_square, move.to_square} if move else ())
        axes.set_title(each.title, fontsize=9)
    return figure


def filmstrip(games: pd.DataFrame, columns: int = 4):
    """Draws a row of positions for each game: the start of its middle game, and on to its end.

    Args:
        games: `who`, `ply`, `move` and `fen` (of `rungs_course.studies.watch.games`), and `result`,
            a game for each `who`.
        columns: positions of each, evenly spaced; the last is the game's last.
    """
    players = games["who"].unique()
    figure, panels = style.axes(
        2.5 * columns, 2.9 * len(players), nrows=len(players), ncols=columns, squeeze=False
    )
    for row, who in zip(panels, players, strict=True):
        game = games[games["who"] == who].set_index("ply")
        last = game.index.max()
        plies = [round(last * (i + 1) / columns) for i in range(columns)]
        for axes, ply in zip(row, plies, strict=True):
            fen = game.loc[ply, "fen"]
            position(axes, fen, _changed(fen, game["fen"].get(ply - 1, fen)))
            axes.set_title(f"{_numbered(ply, game.loc[ply, 'move'])}", fontsize=10)
        row[0].set_ylabel(who, fontsize=11)
        row[-1].set_xlabel(f"result: {game['result'].iloc[0]}", fontsize=10)
    return figure


def position(axes, fen: str, moved: Iterable[int] = ()) -> None:
    """Draws a position, with some squares marked.

    Args:
        axes: where.
        fen: the position.
        moved: the squares, 0 to 63.
    """
    for square in chess.SQUARES:
        file, rank = square % 8, square // 8
        shade = _MOVED if square in moved else _LIGHT if (file + rank) % 2 else _DARK
        axes.add_patch(matplotlib.patches.Rectangle((file, rank), 1, 1, color=shade))
    # One glyph for both colours, filled and edged: hollow ones vanish on dark squares.
    for square, piece in chess.Board(fen).piece_map().items():
        edge = matplotlib.patheffects.withStroke(
            linewidth=1.6, foreground=style.BLACK if piece.color else "white"
        )
        axes.text(
            square % 8 + 0.5,
            square // 8 + 0.46,
            _GLYPHS[piece.symbol().lower()],
            color="white" if piece.color else style.BLACK,
            path_effects=[edge],
            family="DejaVu Sans",
            fontsize=15,
            ha="center",
            va="center",
        )
    axes.set(xlim=(0, 8), ylim=(0, 8), aspect="equal", xticks=[], yticks=[])
    axes.spines[:].set_visible(False)


def _changed(fen: str, before: str) -> set[int]:
    """Returns the squares on which two positions differ."""
    now, earlier = (chess.Board(each).piece_map() for each in (fen, before))
    return {square for square in chess.SQUARES if now.get(square) != earlier.get(square)}


def _numbered(ply: int, move: str) -> str:
    """Writes a move as score sheets do: "12. Nf3", or "12. … Nf6" for Black's."""
    return f"{(ply + 1) // 2}. {'' if ply % 2 else '… '}{move}"
