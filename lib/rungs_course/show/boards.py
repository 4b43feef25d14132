"""Boards as figures: sets of squares, squares by number, actions, and what an agent sees.

Drawn from the code's own tables, so that they can't say anything else.
"""

import matplotlib.patches
import numpy as np

from rungs._src.chess.actions import NUM_PLANES, target_of
from rungs._src.chess.observation import HISTORY, NUMBER_PLANES, PLANE_NAMES
from rungs_course.show import style

_LIGHT, _DARK = "#F5F5F5", "#D9D9D9"


def bitboards(boards: dict[str, int]):
    """Bitboards side by side, rank 8 on top.

    Args:
        boards: 64-bit sets of squares by title.
    """
    figure, axes = style.axes(2.1 * len(boards), 2.5, ncols=len(boards), squeeze=False)
    for each, (title, bits) in zip(axes[0], boards.items(), strict=True):
        empty_board(each, title)
        for square in range(64):
            if int(bits) >> square & 1:
                centre = (square % 8 + 0.5, square // 8 + 0.5)
                each.add_patch(matplotlib.patches.Circle(centre, 0.33, color=style.BLUE))
    return figure


def square_numbers():
    """Draws the number of every square: bit i of a bitboard, word i % 64 of an action."""
    figure, axes = style.axes(3.4, 3.6)
    empty_board(axes, "squares")
    for square in range(64):
        _write(axes, square, str(square))
    return figure


def action_planes(queen_from: int, pawn_from: int):
    """Draws the plane by which a piece reaches each square.

    Args:
        queen_from: where a piece stands that moves like queen and knight.
        pawn_from: where a pawn stands, one square from promotion.
    """
    figure, axes = style.axes(9.0, 4.6, ncols=2)
    moves = {64 * plane + queen_from for plane in range(64)}
    promotions = {64 * plane + pawn_from for plane in range(64, NUM_PLANES)}
    titles = (
        "planes 0 to 63: queen's and knight's moves",
        "planes 64 to 72: promotions to N, B, R",
    )
    chosen = ((queen_from, moves), (pawn_from, promotions))
    for each, (origin, actions), title in zip(axes, chosen, titles, strict=True):
        empty_board(each, title)
        planes: dict[int, list[str]] = {}
        for action in sorted(actions):
            if (target := target_of(action)) is not None:
                planes.setdefault(target, []).append(str(action // 64))
        for square, texts in planes.items():
            _write(each, square, "\n".join(texts))
        centre = (origin % 8 + 0.5, origin // 8 + 0.5)
        each.add_patch(matplotlib.patches.Circle(centre, 0.33, color=style.ORANGE))
    return figure


def observation_planes(planes: np.ndarray):
    """Draws one board's 119 planes: a row per position of the history, then the constant ones.

    Args:
        planes: (119, 8, 8) float32.
    """
    per_position = len(PLANE_NAMES[: -len(_constants())]) // HISTORY
    figure, axes = style.axes(11.0, 8.2, nrows=HISTORY + 1, ncols=per_position)
    for plane, values in enumerate(planes):
        each = axes.flat[plane]
        shown = values > 0 if plane not in NUMBER_PLANES else np.zeros_like(values)
        each.imshow(shown, origin="lower", cmap="Blues", vmin=0, vmax=1.4)
        if plane in NUMBER_PLANES:
            each.text(3.5, 3.5, f"{values[0, 0]:.0f}", ha="center", va="center")
    for each in axes.flat:
        each.set_xticks([])
        each.set_yticks([])
        each.spines[:].set_visible(True)
    for empty in axes.flat[len(planes) :]:
        empty.set_visible(False)
    for column in range(per_position):
        axes[0, column].set_title(_wrapped(PLANE_NAMES[column].removesuffix(", now")), fontsize=7)
    for row in range(HISTORY):
        axes[row, 0].set_ylabel(f"{row} plies\nago" if row else "now", fontsize=8)
    for column, name in enumerate(_constants()):
        axes[HISTORY, column].set_title(_wrapped(name), fontsize=7)
    return figure


def _constants() -> tuple[str, ...]:
    return tuple(name for name in PLANE_NAMES if not name.endswith((", now", " ago")))


def _wrapped(name: str) -> str:
    return name.replace(" ", "\n", 1).replace(" before", "\nbefore").replace(" castle", "\ncastle")


def _write(axes, square: int, text: str) -> None:
    axes.text(square % 8 + 0.5, square // 8 + 0.5, text, ha="center", va="center", fontsize=8)


def empty_board(axes, title: str) -> None:
    """Draws 64 squares, named along two edges."""
    for square in range(64):
        shade = _DARK if (square % 8 + square // 8) % 2 == 0 else _LIGHT
        corner = (square % 8, square // 8)
        axes.add_patch(matplotlib.patches.Rectangle(corner, 1, 1, color=shade))
    axes.set(xlim=(0, 8), ylim=(0, 8), aspect="equal")
    axes.set_xticks(np.arange(8) + 0.5, "abcdefgh", fontsize=7)
    axes.set_yticks(np.arange(8) + 0.5, range(1, 9), fontsize=7)
    axes.tick_params(length=0)
    axes.set_title(title, fontsize=9)
    axes.spines[:].set_visible(False)
