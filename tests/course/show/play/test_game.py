"""A game against an agent: rules, turns, taking back, and PGN that others read."""

import io

import chess
import chess.pgn
import pytest

from rungs.errors import ConfigurationError
from rungs_course.playing.game import Game

FOOLS_MATE = ("f3", "e5", "g4", "Qh4#")


def after(*sans, white=True):
    game = Game(white, "update 7")
    for san in sans:
        game.play(san)
    return game


def test_moves_are_taken_as_uci_and_as_san():
    game = Game(True, "it")
    assert [
        game.play(text) for text in ("e2e4", "e5", "g1f3", "Nc6", "Bb5", "a6", "Bxc6", "dxc6")
    ] == [*("e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Bxc6", "dxc6")]
    assert game.play("O-O") == "O-O"
    assert game.lines() == ["1. e4 e5", "2. Nf3 Nc6", "3. Bb5 a6", "4. Bxc6 dxc6", "5. O-O"]


@pytest.mark.parametrize("text", ["e5", "Ke2", "", "0000", "--", "e2e5", "nonsense", "<b>"])
def test_what_is_no_legal_move_is_refused_and_nothing_changes(text):
    game = Game(True, "it")
    with pytest.raises(ConfigurationError, match="is no legal move here"):
        game.play(text)
    assert game.board == chess.Board()


def test_a_promotion_needs_its_piece():
    game = Game(True, "it")
    game.board.set_fen("8/P6k/8/8/8/8/7K/8 w - - 0 1")
    with pytest.raises(ConfigurationError):
        game.play("a7a8")
    assert game.play("a7a8n") == "a8=N"


def test_whose_turn_it_is():
    assert Game(True, "it").your_turn
    assert not Game(False, "it").your_turn
    assert after("e4", white=False).your_turn


@pytest.mark.parametrize(
    ("white", "plies", "left"),
    [(True, 0, 0), (True, 1, 0), (True, 2, 0), (True, 4, 2), (False, 1, 1), (False, 3, 1)],
)
def test_taking_back_leads_to_ones_own_move_before_the_last(white, plies, left):
    game = after(*FOOLS_MATE[:plies], white=white)
    game.take_back()
    assert len(game.board.move_stack) == left
    assert game.your_turn


def test_a_mate_is_told_and_ends_the_game():
    game = after(*FOOLS_MATE)
    assert game.status() == "The agent wins: checkmate."
    assert after(*FOOLS_MATE, white=False).status() == "You win: checkmate."
    with pytest.raises(ConfigurationError, match="the game is over"):
        game.play("e4")
    game.take_back()
    assert game.your_turn


def test_a_third_repetition_is_a_draw_unasked():
    game = after(*("Nf3", "Nf6", "Ng1", "Ng8") * 2)
    assert game.status() == "A draw: the position stood three times."


def test_its_pgn_is_the_game():
    game = after(*FOOLS_MATE, white=False)
    read = chess.pgn.read_game(io.StringIO(game.pgn()))
    assert (read.headers["White"], read.headers["Black"]) == ("update 7", "you")
    assert read.headers["Result"] == "0-1"
    assert list(read.mainline_moves()) == game.board.move_stack
