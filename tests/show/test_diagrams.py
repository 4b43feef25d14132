"""Diagrams of games show the pieces of their FENs, and what a move has changed."""

import chess
import pandas as pd
from matplotlib.colors import to_rgb

from rungs_course.show import diagrams


def film():
    board, rows = chess.Board(), []
    rows.append(("me", 0, None, board.fen(), "1-0"))
    for ply, move in enumerate(["e4", "e5", "Qh5", "Ke7", "Qxe5#"], 1):
        board.push_san(move)
        rows.append(("me", ply, move, board.fen(), "1-0"))
    return pd.DataFrame(rows, columns=["who", "ply", "move", "fen", "result"])


def test_a_strip_ends_with_the_games_end():
    axes = diagrams.filmstrip(film(), columns=2).axes
    assert [each.get_title() for each in axes] == ["1. … e5", "3. Qxe5#"]
    assert axes[0].get_ylabel() == "me"
    assert axes[-1].get_xlabel() == "result: 1-0"


def test_pieces_and_changed_squares_are_drawn():
    (*_, axes) = diagrams.filmstrip(film(), columns=1).axes
    glyphs = [text.get_text() for text in axes.texts]
    assert len(glyphs) == 31
    assert glyphs.count("♛") == 2
    assert glyphs.count("♚") == 2
    changed = {
        (patch.get_x(), patch.get_y())
        for patch in axes.patches
        if patch.get_facecolor()[:3] == to_rgb(diagrams._MOVED)
    }
    assert changed == {(7, 4), (4, 4)}  # h5 and e5
