"""Chess positions as diagrams, drawn from their FEN."""

import matplotlib.patches
import matplotlib.patheffects
import pandas as pd

from rungs.show import style

_LIGHT, _DARK, _MOVED = "#F5F5F5", "#C9CFD6", "#F3D28B"
_GLYPHS = dict(zip("kqrbnp", "♚♛♜♝♞♟", strict=True))


def filmstrip(games: pd.DataFrame, columns: int = 4):
    """Draws a row of positions for each game: the start of its middle game, and on to its end.

    Args:
        games: `who`, `ply`, `move` and `fen` (of `rungs.train.watch.games`), and `result`, a game
            for each `who`.
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
            position(axes, game.loc[ply, "fen"], game["fen"].get(ply - 1))
            axes.set_title(f"{_numbered(ply, game.loc[ply, 'move'])}", fontsize=10)
        row[0].set_ylabel(who, fontsize=11)
        row[-1].set_xlabel(f"result: {game['result'].iloc[0]}", fontsize=10)
    return figure


def position(axes, fen: str, before: str | None = None) -> None:
    """Draws a position; squares that differ from the position before it are marked.

    Args:
        axes: where.
        fen: the position.
        before: FEN of the position before, if there is one.
    """
    pieces, earlier = _squares(fen), _squares(before or fen)
    for file in range(8):
        for rank in range(8):
            shade = _LIGHT if (file + rank) % 2 else _DARK
            if pieces.get((file, rank)) != earlier.get((file, rank)):
                shade = _MOVED
            axes.add_patch(matplotlib.patches.Rectangle((file, rank), 1, 1, color=shade))
    # One glyph for both colours, filled and edged: hollow ones vanish on dark squares.
    for (file, rank), piece in pieces.items():
        white = piece.isupper()
        edge = matplotlib.patheffects.withStroke(
            linewidth=1.6, foreground=style.BLACK if white else "white"
        )
        axes.text(
            file + 0.5,
            rank + 0.46,
            _GLYPHS[piece.lower()],
            color="white" if white else style.BLACK,
            path_effects=[edge],
            family="DejaVu Sans",
            fontsize=15,
            ha="center",
            va="center",
        )
    axes.set(xlim=(0, 8), ylim=(0, 8), aspect="equal", xticks=[], yticks=[])
    axes.spines[:].set_visible(False)


def _squares(fen: str) -> dict[tuple[int, int], str]:
    """Returns the pieces of a FEN by file and rank, from 0."""
    found = {}
    for rank, text in zip(range(7, -1, -1), fen.split()[0].split("/"), strict=True):
        file = 0
        for letter in text:
            if letter.isdigit():
                file += int(letter)
            else:
                found[file, rank] = letter
                file += 1
    return found


def _numbered(ply: int, move: str) -> str:
    """Writes a move as score sheets do: "12. Nf3", or "12. … Nf6" for Black's."""
    return f"{(ply + 1) // 2}. {'' if ply % 2 else '… '}{move}"
