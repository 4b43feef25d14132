"""A game against an agent, and the page to play it on, without a browser."""

import base64
import io
import re

import chess
import chess.pgn
import pytest

from rungs.errors import ConfigurationError, InvalidStateError
from rungs_course import agents
from rungs_course.playing.game import Game
from rungs_course.playing.page import Page

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


@pytest.fixture
def page():
    page = Page({"untrained": agents.untrained})
    page._simulations.value = 0
    return page


def moved(page, uci):
    """What the browser sends where a move was chosen."""
    page.board._handle_custom_msg({"move": uci}, [])


def button(page, name):
    (found,) = [each for each in every(page.widget) if getattr(each, "description", "") == name]
    return found


def every(widget):
    yield widget
    for child in getattr(widget, "children", ()):
        yield from every(child)


def test_the_board_shows_what_is_legal(page):
    assert page.board.fen == chess.STARTING_FEN
    assert len(page.board.moves) == 20
    assert set(page.board.pieces) == set("KQRBNPkqrbnp")


def test_a_move_is_played_and_answered(page):
    moved(page, "e2e4")
    assert page.game.board.move_stack[0].uci() == "e2e4"
    assert len(page.game.board.move_stack) == 2
    assert page.board.fen == page.game.board.fen()
    assert page.board.last == page.game.board.peek().uci()
    assert "The agent played" in page._thoughts.value
    san = page.game.lines()[0].split()[2]
    assert f"<td>{san}</td>" in page._thoughts.value


def test_the_agent_searches_by_the_rule_that_is_chosen(page):
    tables = []
    page._simulations.value = 8
    for policy in ("gumbel", "puct"):
        page._policy.value = policy
        button(page, "hint").click()
        tables.append(page._thoughts.value)
    assert "(Gumbel, 8 simulations)" in tables[0]
    assert "(PUCT, 8 simulations)" in tables[1]


def test_an_illegal_move_changes_nothing(page):
    for content in ("e2e5", "", None, 7, ["e2e4"]):
        moved(page, content)
    page.board._handle_custom_msg("e2e4", [])
    assert page.game.board == chess.Board()


def test_an_agent_that_cannot_be_loaded_is_named_and_another_goes_on():
    def corrupt():
        raise InvalidStateError("000040.pt is corrupt")

    page = Page({"broken": corrupt, "untrained": agents.untrained})
    page._simulations.value = 0
    moved(page, "e2e4")
    assert "000040.pt is corrupt" in page._status.value
    page._agent.value = "untrained"
    assert len(page.game.board.move_stack) == 2
    page._agent.value = "broken"
    button(page, "hint").click()
    assert "000040.pt is corrupt" in page._status.value


def test_a_move_may_be_typed(page):
    page._typed.value = "Nf3"
    assert page.game.lines()[0].startswith("1. Nf3 ")
    assert page._typed.value == ""
    page._typed.value = "Nf3"
    assert "&#x27;Nf3&#x27; is no legal move here" in page._status.value


def test_as_black_the_agent_begins_and_the_board_is_turned(page):
    page._colour.value = "Black"
    assert len(page.game.board.move_stack) == 1
    assert page.board.flipped
    button(page, "take back").click()
    assert len(page.game.board.move_stack) == 1
    button(page, "flip").click()
    assert not page.board.flipped


def test_taking_back_and_beginning_again(page):
    moved(page, "e2e4")
    moved(page, page.board.moves[0])
    button(page, "take back").click()
    assert len(page.game.board.move_stack) == 2
    button(page, "new game").click()
    assert page.board.fen == chess.STARTING_FEN


def test_a_hint_plays_nothing(page):
    button(page, "hint").click()
    assert "In your place it would play" in page._thoughts.value
    assert page.board.fen == chess.STARTING_FEN
    assert len(page.board.moves) == 20


def test_a_promotion_is_one_of_four_moves(page):
    page.game.board.set_fen("8/P6k/8/8/8/8/7K/8 w - - 0 1")
    page._show()
    assert {move for move in page.board.moves if move.startswith("a7")} == {
        "a7a8q", "a7a8r", "a7a8b", "a7a8n",
    }  # fmt: skip
    moved(page, "a7a8r")
    assert page.game.lines()[0].startswith("1. a8=R")


def test_a_king_in_check_is_marked(page):
    page.game.board.set_fen("4k3/8/8/8/8/8/4r3/4K3 w - - 0 1")
    page._show()
    assert page.board.check == "e1"
    assert "Check!" in page._status.value


def test_the_pgn_is_there_to_be_saved(page):
    moved(page, "e2e4")
    data = re.search(r'base64,([^"]+)"', page._pgn.value)[1]
    pgn = base64.b64decode(data).decode()
    assert '[Black "untrained"]' in pgn
    assert "1. e4" in pgn
