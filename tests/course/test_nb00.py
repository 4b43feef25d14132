"""Notebook 00: the opera game as it was played, and random games."""

import chess
import pytest

from rungs_course.diagrams import OPERA_GAME
from rungs_course.notebooks import nb00_start


def test_the_opera_game_is_what_python_chess_says():
    game, board = nb00_start.play(OPERA_GAME), chess.Board()
    for row in game.itertuples():
        assert row.legal == board.legal_moves.count()
        board.push_uci(row.uci)
        assert row.fen == board.fen()
        assert row.terminated == board.is_game_over()
    assert game["san"].iloc[-1] == "Rd8#"
    assert game["reward"].tolist() == [0.0] * 32 + [1.0]
    assert game["reason"].iloc[-1] == "checkmate"


def test_random_games_are_counted_ply_by_ply():
    positions, ended = nb00_start.play_at_random(24, 100, seed=0)
    assert len(positions) == 24 * 100
    assert set(positions.query("ply == 0")["legal"]) == {20}
    assert max(positions["ply"].max(), ended["plies"].max()) <= 100
    # A random action is legal as often as the mask has legal actions.
    expected = positions["legal"].sum() / 4672
    assert positions["hit"].sum() == pytest.approx(expected, abs=4 * expected**0.5)
