"""Boards as figures: positions, sets of squares, squares by number, actions, what an agent sees."""

from collections.abc import Iterable

import chess
import matplotlib.colors
import matplotlib.patches
import matplotlib.patheffects
import numpy as np
import pandas as pd

from rungs.chess import NUM_PLANES, PLANE_NAMES, target_of
from rungs.devel.envs import HISTORY, NUMBER_PLANES
from rungs_course import plots

_LIGHT, _DARK, _MOVED, _EMPTY = "#F5F5F5", "#C9CFD6", "#F3D28B", "#E6EBF2"
_GLYPHS = dict(zip("kqrbnp", "♚♛♜♝♞♟", strict=True))
# Morphy against the Duke of Brunswick and Count Isouard, Paris 1858.
OPERA_GAME = (
    "e2e4 e7e5 g1f3 d7d6 d2d4 c8g4 d4e5 g4f3 d1f3 d6e5 f1c4 g8f6 f3b3 d8e7 b1c3 c7c6 c1g5 b7b5 "
    "c3b5 c6b5 c4b5 b8d7 e1c1 a8d8 d1d7 d8d7 h1d1 e7e6 b5d7 f6d7 b3b8 d7b8 d1d8"
)


def bitboards(boards: dict[str, int]):
    """Draws bitboards, 64-bit sets of squares by title, side by side, rank 8 on top."""
    figure, axes = plots.axes(2.1 * len(boards), 2.5, ncols=len(boards), squeeze=False)
    for panel, (title, bits) in zip(axes[0], boards.items(), strict=True):
        empty_board(panel, title)
        dots(panel, chess.SquareSet(int(bits)), plots.BLUE)
    return figure


def square_numbers():
    """Draws the number of every square: bit i of a bitboard, word i % 64 of an action."""
    figure, axes = plots.axes(3.4, 3.6)
    empty_board(axes, "squares")
    for square in range(64):
        _write(axes, square, str(square))
    return figure


def action_planes(queen_from: int, pawn_from: int):
    """Draws the plane by which a piece reaches each square: queen and knight moves from one square,
    promotions from another.
    """
    figure, axes = plots.axes(9.0, 4.6, ncols=2)
    moves = {64 * plane + queen_from for plane in range(64)}
    promotions = {64 * plane + pawn_from for plane in range(64, NUM_PLANES)}
    titles = (
        "planes 0 to 63: queen's and knight's moves",
        "planes 64 to 72: promotions to N, B, R",
    )
    chosen = ((queen_from, moves), (pawn_from, promotions))
    for panel, (origin, actions), title in zip(axes, chosen, titles, strict=True):
        empty_board(panel, title)
        planes: dict[int, list[str]] = {}
        for action in sorted(actions):
            if (target := target_of(action)) is not None:
                planes.setdefault(target, []).append(str(action // 64))
        for square, texts in planes.items():
            _write(panel, square, "\n".join(texts))
        dots(panel, [origin], plots.ORANGE)
    return figure


def observation_planes(planes: np.ndarray):
    """Draws one board's (119, 8, 8) planes: a row per position of the history, then the constant
    ones.
    """
    per_position = len(PLANE_NAMES[: -len(_constants())]) // HISTORY
    figure, axes = plots.axes(11.0, 8.2, nrows=HISTORY + 1)
    colors = matplotlib.colors.ListedColormap((_EMPTY, plots.BLUE))  # between planes is none
    for row, panel in enumerate(axes):
        numbers = range(row * per_position, min((row + 1) * per_position, len(planes)))
        tiles = np.full((8, 9 * len(numbers) - 1), np.nan)
        for left, plane in zip(range(0, tiles.shape[1], 9), numbers, strict=True):
            values, is_number = planes[plane], plane in NUMBER_PLANES
            tiles[:, left : left + 8] = 0 if is_number else values > 0
            if is_number:
                panel.text(left + 3.5, 3.5, f"{values[0, 0]:.0f}", ha="center", va="center")
        panel.imshow(tiles, origin="lower", cmap=colors, vmin=0, vmax=1)
        panel.grid(False)
        panel.set_xlim(-0.5, 9 * per_position - 1.5)
        names = [_wrapped(PLANE_NAMES[plane].removesuffix(", now")) for plane in numbers]
        centres = 9 * np.arange(len(numbers)) + 3.5
        panel.set_xticks(centres, names if row in (0, HISTORY) else [""] * len(names), fontsize=7)
        panel.tick_params(length=0, labelbottom=False, labeltop=True)
        panel.set_yticks([])
        panel.spines[:].set_visible(False)
        if row < HISTORY:
            panel.set_ylabel(f"{row} plies\nago" if row else "now", fontsize=8)
    return figure


def _constants() -> tuple[str, ...]:
    return tuple(name for name in PLANE_NAMES if not name.endswith((", now", " ago")))


def _wrapped(name: str) -> str:
    return name.replace(" ", "\n", 1).replace(" before", "\nbefore").replace(" castle", "\ncastle")


def centre(square: int) -> tuple[float, float]:
    """Returns the middle of a square."""
    return square % 8 + 0.5, square // 8 + 0.5


def dots(axes, squares: Iterable[int], color: str, **look) -> None:
    """Draws a dot on each of some squares."""
    for square in squares:
        axes.add_patch(matplotlib.patches.Circle(centre(square), 0.25, color=color, **look))


def _write(axes, square: int, text: str) -> None:
    axes.text(*centre(square), text, ha="center", va="center", fontsize=8)


def empty_board(axes, title: str) -> None:
    """Draws 64 squares, named along two edges."""
    _squares(axes)
    axes.set_xticks(np.arange(8) + 0.5, "abcdefgh", fontsize=7)
    axes.set_yticks(np.arange(8) + 0.5, range(1, 9), fontsize=7)
    axes.tick_params(length=0)
    axes.set_title(title, fontsize=9)


def _squares(axes, moved: Iterable[int] = ()) -> None:
    """Draws 64 squares, those of `moved` in a colour of their own."""
    shades = [_LIGHT if sum(divmod(square, 8)) % 2 else _DARK for square in chess.SQUARES]
    for square in moved:
        shades[square] = _MOVED
    pixels = matplotlib.colors.to_rgba_array(shades).reshape(8, 8, 4)
    axes.imshow(pixels, origin="lower", extent=(0, 8, 0, 8), zorder=0)
    axes.grid(False)
    axes.set(xlim=(0, 8), ylim=(0, 8), aspect="equal")
    axes.spines[:].set_visible(False)


def rows_of(positions: Iterable):
    """Draws positions (`fen`, `title`, and `uci` of the last move or "") in rows of four, that
    move's squares marked.
    """
    positions = list(positions)
    across = min(4, len(positions))
    down = -(-len(positions) // across)
    figure, panels = plots.axes(2.4 * across, 2.7 * down, nrows=down, ncols=across, squeeze=False)
    for axes in panels.flat[len(positions) :]:
        axes.axis("off")
    for axes, row in zip(panels.flat, positions, strict=False):
        move = chess.Move.from_uci(row.uci) if row.uci else chess.Move.null()
        position(axes, row.fen, {move.from_square, move.to_square} if move else ())
        axes.set_title(row.title, fontsize=9)
    return figure


def filmstrip(games: pd.DataFrame, columns: int = 4):
    """Draws evenly spaced positions of each game in `nb15_games.games`, from its middle game to its
    end.
    """
    players = games["who"].unique()
    figure, panels = plots.axes(
        2.5 * columns, 2.9 * len(players), nrows=len(players), ncols=columns, squeeze=False
    )
    for row, player in zip(panels, players, strict=True):
        game = games[games["who"] == player].set_index("ply")
        last = game.index.max()
        plies = [round(last * (i + 1) / columns) for i in range(columns)]
        for axes, ply in zip(row, plies, strict=True):
            fen = game.loc[ply, "fen"]
            position(axes, fen, _changed(fen, game["fen"].get(ply - 1, fen)))
            axes.set_title(_numbered(ply, game.loc[ply, "move"]), fontsize=10)
        row[0].set_ylabel(player, fontsize=11)
        row[-1].set_xlabel(f"result: {game['result'].iloc[0]}", fontsize=10)
    return figure


def position(axes, fen: str, moved: Iterable[int] = ()) -> None:
    """Draws a position, with some squares (0 to 63) marked."""
    _squares(axes, moved)
    axes.set(xticks=[], yticks=[])
    # One glyph for both colours, filled and edged: hollow ones vanish on dark squares.
    for square, piece in chess.Board(fen).piece_map().items():
        edge = matplotlib.patheffects.withStroke(
            linewidth=1.6, foreground=plots.BLACK if piece.color else "white"
        )
        axes.text(
            square % 8 + 0.5,
            square // 8 + 0.46,
            _GLYPHS[piece.symbol().lower()],
            color="white" if piece.color else plots.BLACK,
            path_effects=[edge],
            family="DejaVu Sans",
            fontsize=15,
            ha="center",
            va="center",
        )


def _changed(fen: str, before: str) -> set[int]:
    """Returns the squares on which two positions differ."""
    now, earlier = (chess.Board(text).piece_map() for text in (fen, before))
    return {square for square in chess.SQUARES if now.get(square) != earlier.get(square)}


def _numbered(ply: int, move: str) -> str:
    """Writes a move as score sheets do: "12. Nf3", or "12. … Nf6" for Black's."""
    return f"{(ply + 1) // 2}. {'' if ply % 2 else '… '}{move}"
